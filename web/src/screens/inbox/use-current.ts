import { useState } from 'react'

/** Which of a list that changes the keys are for: the one that somebody went to, or the first. */
export function useCurrent(ids: readonly string[]): {
  readonly current: string | undefined
  /** Somebody went there; it was not only the first by chance. */
  readonly isChosen: boolean
  move(by: 1 | -1): void
} {
  const [chosen, setChosen] = useState<string>()
  const isChosen = chosen !== undefined && ids.includes(chosen)
  const current = isChosen ? chosen : ids[0]
  return {
    current,
    isChosen,
    move(by) {
      // From the last one on to the first.
      const at = current === undefined ? 0 : ids.indexOf(current) + by
      setChosen(ids[(at + ids.length) % ids.length])
    },
  }
}
