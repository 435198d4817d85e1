import { messageOf } from '../../domain/error.ts'
import type { TakenRun } from '../../store/runs.ts'
import type { RunContext } from '../base/run-context.ts'
import { lengthOf, type OpenCall } from '../base/working.ts'
import { currentAction } from '../checks/current-action.ts'
import { askQuestions } from '../questions/ask.ts'
import { goOnQuestion } from '../questions/go-on.ts'
import type { RunParts } from './run.ts'

/** Asks a person whether a run with an endless tool call may go on, and ends it: a task that waits is a row. While nothing can be stored the call goes on, and this is called again. */
export async function askToGoOn(
  taken: TakenRun,
  parts: RunParts,
  { watch, log }: RunContext,
  call: OpenCall,
  openMs: number,
): Promise<void> {
  const input = JSON.stringify(call.input) ?? ''
  const what = currentAction({ type: 'agent.tool_called', text: null, tool: call.tool, input }) ?? call.tool
  const text = `A tool call of this task has been open for ${lengthOf(openMs)} and has not returned (${what}). May the agent go on?`
  try {
    await askQuestions(taken, parts, [goOnQuestion(text)], { isHeld: false })
    watch.stop({ kind: 'asked' })
  } catch (error) {
    log.warn('nobody could be asked about a long tool call; it goes on', { error: messageOf(error), reason: 'not_asked' })
  }
}
