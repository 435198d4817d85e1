import { type InputRequiredResult, inputRequired } from '@modelcontextprotocol/server'
import { PawlError } from '../../domain/error.ts'
import type { QuestionView, TaskView } from '../../domain/view/view.ts'
import type { Call, RunState } from './call.ts'
import { answerOf, formOf } from './elicitation.ts'

/** Puts the open questions of a task to the person at the client. What comes back is known again by its seal. */
export async function askThrough(call: Call, task: TaskView, questions: readonly QuestionView[]): Promise<InputRequiredResult> {
  const state: RunState = { task: task.id, asked: Object.fromEntries(questions.map(({ id, digest }) => [id, digest])) }
  return inputRequired({
    inputRequests: Object.fromEntries(questions.map((one) => [one.id, inputRequired.elicit(formOf(one))])),
    requestState: await call.seal.mint(state, call.ctx),
  })
}

/** Answers what the person has answered, each question once. True if all that was asked has got its answer, from whomever. */
export async function takeAnswers(call: Call, { task, asked }: RunState): Promise<boolean> {
  let isAll = true
  for (const id of Object.keys(asked)) {
    const taken = await answerWith(call, task, id, call.ctx.mcpReq.inputResponses?.[id])
    if (!taken) isAll = false
  }
  return isAll
}

/** True if the question needs no answer any more. One of another task is nobody's business here. */
export async function answerWith(call: Call, task: string, id: string, response: unknown): Promise<boolean> {
  const question = await found(call, id)
  if (question?.task !== task) return false
  if (question.state !== 'pending') return true
  const answer = answerOf(question, response)
  if (!answer) return false
  try {
    await call.runtime.answerQuestion(id, answer, call.who.caller)
  } catch (error) {
    // Somebody else was quicker, or its time ran out meanwhile: either way it is settled.
    if (!(error instanceof PawlError) || error.code !== 'conflict') throw error
  }
  return true
}

async function found({ runtime }: Call, id: string): Promise<QuestionView | undefined> {
  try {
    return await runtime.getQuestion(id)
  } catch (error) {
    if (error instanceof PawlError && (error.code === 'not_found' || error.code === 'invalid')) return undefined
    throw error
  }
}
