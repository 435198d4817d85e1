import { useLocation, useRouterState } from '@tanstack/react-router'
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { showTitle } from '../drawn/page.ts'
import { screens } from './screens.ts'

/** How long a screen may take to come. */
const patienceMs = 5_000

/**
 * Says where one is when the screen changes: its name is the title, and the focus goes to its heading, so that whoever reads by ear or goes by keyboard begins there.
 * A field that took the focus by itself keeps it.
 */
export function useArrival(main: RefObject<HTMLElement | null>): void {
  const { pathname } = useLocation()
  // Before the effects of the screen itself, which may know a better title.
  useLayoutEffect(() => {
    const screen = screens.find(({ path }) => patternOf(path).test(pathname))
    showTitle(screen ? `${screen.title} · Pawl` : 'Pawl')
  }, [pathname])
  // The screen that is being left stays until the other one is there.
  const arrived = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  const before = useRef(arrived)
  useEffect(() => {
    const isFirst = before.current === undefined
    if (before.current === arrived) return
    before.current = arrived
    if (isFirst) return
    const place = main.current
    if (!place) return
    const arrive = () => {
      const heading = place.querySelector('h1')
      if (!heading) return false
      if (!place.contains(document.activeElement) || document.activeElement === place) {
        heading.tabIndex = -1
        heading.focus({ preventScroll: true })
      }
      return true
    }
    // What was focused before has gone with its screen; until the heading comes, the content is where one is.
    if (!place.contains(document.activeElement)) place.focus({ preventScroll: true })
    const coming = new MutationObserver(() => arrive() && coming.disconnect())
    const timer = setTimeout(() => coming.disconnect(), patienceMs)
    const frame = requestAnimationFrame(() => {
      if (!arrive()) coming.observe(place, { childList: true, subtree: true })
    })
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
      coming.disconnect()
    }
  }, [arrived, main])
}

const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/\$\w+/g, '[^/]+')}/?$`)
