import { pause } from '../../../src/client/transport/follow.ts'
import { PawlError } from '../../../src/domain/error.ts'
import { pawl } from './pawl.ts'
import { whileSeen } from './seen.ts'

export interface Changes {
  readonly signal: AbortSignal
  onChange(): void
  /** `live` is told with every connection: nobody knows what happened before it stood. */
  onState(state: 'connecting' | 'live' | 'away'): void
  /** The sign-in of this browser has gone. */
  onDenied(): void
}

// What an agent says is shown by the task's own screen; here it would only cost.
const types = ['task.', 'run.', 'question.', 'subtask.', 'check.', 'agent.tool_called']

/** Tells when anything happens to any task, for as long as the page is seen. */
export async function followChanges({ signal, onChange, onState, onDenied }: Changes): Promise<void> {
  await whileSeen(signal, async (seen) => {
    onState('connecting')
    while (!seen.aborted) {
      try {
        const told = {
          onOpen: () => onState('live'),
          onState: (state: 'live' | 'away') => state === 'away' && onState('away'),
        }
        const changes = pawl.followFeed({ types, signal: seen, patienceMs: Number.POSITIVE_INFINITY, ...told })
        for await (const _ of changes) onChange()
      } catch (error) {
        if (seen.aborted) return
        onState('away')
        if (error instanceof PawlError && error.code === 'denied') onDenied()
      }
      await pause(2_000, seen)
    }
  })
}
