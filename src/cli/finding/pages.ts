import { invalid } from '../../domain/error.ts'
import type { Page } from '../../domain/view/view.ts'

/** How far back a part of an id is looked for. */
export const searched = 2000

type Ask<T> = (page: { limit: number; cursor: string | undefined }) => Promise<Page<T>>

/** One page after the other until there are enough. */
export async function takePages<T>(wanted: number, ask: Ask<T>): Promise<Page<T>> {
  const items: T[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await ask({ limit: Math.min(wanted - items.length, 200), cursor })
    items.push(...page.items)
    if (page.next === null || page.items.length === 0 || items.length >= wanted) return { items, next: page.next }
    cursor = page.next
  }
}

/** The value of a list's --limit. */
export function parseCount(written: string): number {
  const count = Number(written)
  if (!Number.isInteger(count) || count < 1 || count > 100_000)
    throw invalid('--limit must be a whole number from 1 to 100000; --all lists every one.')
  return count
}
