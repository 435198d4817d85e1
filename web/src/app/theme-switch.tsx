import { useState } from 'react'

const themes = ['system', 'light', 'dark'] as const
type Theme = (typeof themes)[number]
const place = 'pawl-theme'
const signs: Record<Theme, string> = { system: '◐', light: '☀', dark: '☾' }

const isTheme = (text: string | null): text is Theme => themes.some((theme) => theme === text)

function apply(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

const kept = localStorage.getItem(place)
const first: Theme = isTheme(kept) ? kept : 'system'
apply(first)

export function ThemeSwitch() {
  const [theme, setTheme] = useState(first)
  const next = themes[(themes.indexOf(theme) + 1) % themes.length]!
  return (
    <button
      type="button"
      className="quiet"
      aria-label={`Colours: ${theme}. Change to ${next}.`}
      title={`Colours: ${theme}`}
      onClick={() => {
        localStorage.setItem(place, next)
        apply(next)
        setTheme(next)
      }}
    >
      <span aria-hidden="true">{signs[theme]}</span>
    </button>
  )
}
