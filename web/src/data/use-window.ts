import { useSyncExternalStore } from 'react'

/** Is the window like this now? `query` as in a style sheet. */
export function useWindowOf(query: string): boolean {
  return useSyncExternalStore(
    (tell) => {
      const list = matchMedia(query)
      list.addEventListener('change', tell)
      return () => list.removeEventListener('change', tell)
    },
    () => matchMedia(query).matches,
  )
}
