import type { PromptResponse } from '@agentclientprotocol/sdk'
import { PawlError } from '../../domain/error.ts'
import type { Event } from '../../domain/event/event.ts'
import { isRestingEvent } from '../../domain/event/resting.ts'
import { isEnded } from '../../domain/task/task.ts'
import type { QuestionView, TaskView } from '../../domain/view/view.ts'
import type { Editor } from './editor.ts'
import { endingOf, hasAnswer, parkedError } from './ending.ts'
import { failedTask } from './errors.ts'
import { type AcpHome, caller } from './home.ts'
import { ask, isAskable, questionInWords } from './questions.ts'
import type { Teller } from './teller.ts'

/** One prompt: a task that is followed until it has come to its end, or asks something that only the next prompt can answer. */
export interface Turn {
  readonly task: string
  readonly done: Promise<PromptResponse>
  /** With grace; the second time without. */
  cancel(): Promise<void>
  /** Nobody is there to be told any more; the task goes on. */
  leave(): void
}

export interface TurnOptions {
  readonly home: AcpHome
  readonly editor: Editor
  readonly session: string
  readonly folder: string
  readonly task: string
  readonly teller: Teller
  /** The number of the last event that the editor was told of. */
  readonly after: number
}

/** A limit of a minute is waited for; one of hours is told. */
const patienceMs = 60_000

export function startTurn(options: TurnOptions): Turn {
  const { home, editor, session, folder, task, teller, after } = options
  const left = new AbortController()
  const asked = new Map<string, AbortController>()
  const finish = Promise.withResolvers<PromptResponse>()
  let cancels = 0
  const cancel = async () => {
    const now = cancels++ > 0
    await home.use((runtime) => runtime.cancelTask(task, { ...caller, now }))
  }
  const view = () => home.use((runtime) => runtime.getTask(task))
  const hasMore = async () => (await home.use((runtime) => runtime.readEvents(task, { after, limit: 1 }))).length > 0

  /** Puts a question to the editor's user and brings the answer back, while the turn goes on. */
  const put = async (question: QuestionView, withdrawn: AbortController): Promise<void> => {
    const callId = question.call && teller.openCall(question.call.tool)
    const reply = await ask(editor, question, { session, folder, callId, signal: withdrawn.signal })
    if (withdrawn.signal.aborted) return
    if (!reply) return leaveOpen(question)
    if ('stop' in reply) return cancel()
    await home
      .use((runtime) => runtime.answerQuestion(question.id, reply.answer, caller))
      .catch((error: unknown) => {
        // Somebody else was quicker, or its time was up.
        if (!(error instanceof PawlError && error.code === 'conflict')) throw error
      })
  }
  /** The next prompt answers it. */
  const leaveOpen = (question: QuestionView) => {
    editor.update(session, messageOf(questionInWords(question), question.id))
    finish.resolve(openEnd)
  }
  const openEnd: PromptResponse = { stopReason: 'end_turn', _meta: { pawl: { task, state: 'blocked' } } }
  const withdraw = (question: string) => {
    asked.get(question)?.abort()
    asked.delete(question)
  }
  /** What waits for an answer is asked, once. True if something can only be answered by the next prompt. */
  const askAll = (questions: readonly QuestionView[]): boolean => {
    const open = questions.filter(({ state }) => state === 'pending')
    for (const question of open) {
      if (asked.has(question.id) || !isAskable(question, editor)) continue
      const withdrawn = new AbortController()
      asked.set(question.id, withdrawn)
      put(question, withdrawn).catch(finish.reject)
    }
    const next = open.find((question) => !isAskable(question, editor))
    if (next) editor.update(session, messageOf(questionInWords(next), next.id))
    return next !== undefined
  }
  /** The answer to the prompt, if the task has come to where the turn ends. */
  const restOf = (now: TaskView): PromptResponse | undefined => {
    if (isOver(now)) {
      if (hasAnswer(now)) teller.result(now.result.text)
      return endingOf(now)
    }
    if (now.state === 'parked') {
      if (now.resumeAt === null || Date.parse(now.resumeAt) - Date.now() > patienceMs) throw parkedError(now)
      return undefined
    }
    if (askAll(now.questions)) return openEnd
    if (now.state === 'blocked' && asked.size === 0 && now.reason?.kind !== 'subtasks') throw blockedError(now)
    return undefined
  }
  const follow = async (): Promise<PromptResponse> => {
    const now = after > 0 ? await view() : undefined
    // What rests already brings no event, nor does an end that was told before; what has ended since does.
    const early = now && !(isOver(now) && (await hasMore())) ? restOf(now) : undefined
    if (early) return early
    for await (const event of home.follow(task, { after, signal: left.signal, onGrowing: (text) => teller.growing(text) })) {
      teller.event(event)
      await editor.settled()
      const question = settledBy(event)
      if (question !== undefined) withdraw(question)
      const answer = isRestingEvent(event) || event.type === 'question.asked' ? restOf(await view()) : undefined
      if (answer) return answer
    }
    return unfinished
  }
  const done = Promise.race([follow(), finish.promise]).finally(() => {
    left.abort()
    for (const question of [...asked.keys()]) withdraw(question)
  })
  done.catch(() => undefined)
  const leave = () => {
    left.abort()
    // Whatever is asked of a daemon that is away waits for it; nobody waits for that.
    finish.resolve(unfinished)
  }
  return { task, done, cancel, leave }
}

const unfinished: PromptResponse = { stopReason: 'cancelled' }

const isOver = ({ state }: TaskView) => isEnded(state) || state === 'review'

const settledBy = (event: Event) =>
  event.type === 'question.answered' || event.type === 'question.closed' ? event.data.questionId : undefined

const messageOf = (text: string, messageId: string) =>
  ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, messageId }) as const

const blockedError = (task: TaskView) =>
  failedTask(
    task.id,
    task.reason?.kind ?? 'blocked',
    `The task is blocked${task.reason?.detail ? `: ${task.reason.detail}` : ''}; see what it waits for with: pawl show ${task.id}`,
  )
