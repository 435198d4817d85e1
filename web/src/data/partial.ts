import { useSyncExternalStore } from 'react'
import type { Growing } from '../../../src/domain/event/live-text.ts'

const now = new Map<string, Growing>()
const listeners = new Set<() => void>()

/** For whoever follows the events of a task: what its agent is saying is then shown by `<Growing>`, wherever that stands. */
export const tellGrowing = (task: string) => (growing: Growing | undefined) => {
  if (growing) now.set(task, growing)
  else now.delete(task)
  for (const tell of listeners) tell()
}

/** What the agent of a task is saying just now; undefined while it says nothing, or nobody follows it here. */
export const useGrowing = (task: string): Growing | undefined => useSyncExternalStore(subscribe, () => now.get(task))

function subscribe(tell: () => void) {
  listeners.add(tell)
  return () => void listeners.delete(tell)
}
