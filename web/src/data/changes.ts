import { PawlError } from '../../../src/domain/error.ts'
import { pawl } from './pawl.ts'

export interface Changes {
  readonly signal: AbortSignal
  onChange(): void
  onState(state: 'live' | 'away'): void
}

/** Tells when anything happens to any task, for as long as the page is open. */
export async function followChanges({ signal, onChange, onState }: Changes): Promise<void> {
  while (!signal.aborted) {
    try {
      // What an agent says is shown by the task's own screen; here it would only cost.
      const types = ['task.', 'run.', 'question.', 'subtask.', 'check.', 'agent.tool_called']
      for await (const _ of pawl.followFeed({ types, signal, onState, patienceMs: Number.POSITIVE_INFINITY })) onChange()
    } catch (error) {
      if (error instanceof PawlError && error.code === 'denied') return
      onState('away')
    }
    if (signal.aborted) return
    await new Promise((done) => setTimeout(done, 2_000))
    onState('live')
  }
}
