import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { Screen } from './screens.ts'

export type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>

/** Keys of a screen, while nothing is written into a field. */
export function useKeys(keys: Keys): void {
  const current = useRef(keys)
  current.current = keys
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return
      const act = current.current[event.key]
      if (!act) return
      event.preventDefault()
      act(event)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}

/** `g` and then the letter of a screen goes there. */
export function useGoKeys(screens: readonly Screen[]): void {
  const navigate = useNavigate()
  const isGoing = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return
      if (isGoing.current === undefined) {
        if (event.key === 'g') isGoing.current = setTimeout(() => (isGoing.current = undefined), 1_500)
        return
      }
      clearTimeout(isGoing.current)
      isGoing.current = undefined
      const screen = screens.find(({ menu }) => menu?.letter === event.key)
      if (!screen) return
      event.preventDefault()
      void navigate({ to: screen.path })
    }
    // Before the keys of the screen: after `g` a letter means a place.
    window.addEventListener('keydown', onKey, { capture: true })
    return () => window.removeEventListener('keydown', onKey, { capture: true })
  }, [navigate, screens])
}

const isWriting = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
