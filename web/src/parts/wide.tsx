import type { ReactNode } from 'react'

/** What may be wider than the window scrolls by itself, by keyboard too. */
export function Wide({ label, className = '', children }: { label: string; className?: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={`scroll-x ${className}`} aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}
