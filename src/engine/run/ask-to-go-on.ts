import { messageOf } from '../../domain/error.ts'
import type { TakenRun } from '../../store/runs.ts'
import type { RunContext } from '../base/run-context.ts'
import type { OpenCall } from '../base/working.ts'
import { currentAction } from '../checks/current-action.ts'
import { askQuestions } from '../questions/ask.ts'
import { goOnQuestion } from '../questions/go-on.ts'
import type { RunParts } from './run.ts'

/**
 * Asks a person whether a run with an endless tool call may go on, and ends the run: a task that waits is a row. While nothing can be stored the call goes on, and it is
 * tried again when the watch tells of the call again.
 */
export function goOnAsker(
  taken: TakenRun,
  parts: RunParts,
  { watch, log }: RunContext,
): (call: OpenCall, openMs: number) => void {
  let isAsking = false

  async function ask({ tool, input }: OpenCall, openMs: number): Promise<void> {
    const action = { type: 'agent.tool_called', text: null, tool, input: JSON.stringify(input) ?? '' } as const
    // The same words for a while: if nobody knows whether the question was stored, it is found when it is asked again.
    const hours = Math.floor(openMs / 3_600_000)
    const text = `A tool call of this task has been open for more than ${hours} hours and has not returned (${currentAction(action) ?? tool}). May the agent go on?`
    try {
      await askQuestions(taken, parts, [goOnQuestion(text)], { isHeld: false })
      watch.stop({ kind: 'asked' })
    } catch (error) {
      log.warn('nobody could be asked about a long tool call; it goes on', { error: messageOf(error), reason: 'not_asked' })
    }
  }

  return (call, openMs) => {
    if (isAsking) return
    isAsking = true
    void ask(call, openMs).finally(() => {
      isAsking = false
    })
  }
}
