import type { Client } from '../client/client.ts'
import { waitForSubtasks } from '../client/wait-for-subtasks.ts'
import { conflict } from '../domain/error.ts'
import { type Event, isRestingEvent } from '../domain/event/event.ts'
import type { AnswerGiven } from '../domain/question/question.ts'
import type { TaskView } from '../domain/view/view.ts'

/**
 * A task from the moment it is asked for until it comes to rest: completed, failed, in review, blocked or parked. Await it for the task; read it with `for await` for its
 * events, as often as you like, from the first to the one with which it rests. Reading slowly, or not at all, holds nothing up.
 */
export interface AgentRun extends PromiseLike<TaskView>, AsyncIterable<Event> {
  /** Rejects if the task was refused. */
  readonly id: Promise<string>
  readonly result: Promise<TaskView>
  /** Stops the agent, with grace unless `now`; the task comes to rest. */
  cancel(options?: { now?: boolean }): Promise<void>
  /** Answers the question that waits, or the one that is named, and goes on: what follows is a run of its own. */
  answer(answer: string | AnswerGiven, options?: { question?: string }): AgentRun
}

type Verbs = Pick<Client, 'getTask' | 'cancelTask' | 'answerQuestion' | 'followEvents'>

/** The task to follow, and with what. */
export interface Begun {
  readonly client: Verbs
  readonly task: string
  /** The question with whose answer it goes on: what comes before that is no rest. */
  readonly answered?: string | undefined
  /** Called when it rests; nothing can be asked for any more. */
  readonly end?: (() => Promise<void>) | undefined
}

export interface FollowOptions {
  /** Everything up to this event is known already. */
  readonly after?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: Event) => void) | undefined
}

export function followRun(begin: () => Promise<Begun>, options: FollowOptions): AgentRun {
  const { after = 0, signal, onEvent } = options
  const begun = begin()
  const id = begun.then(({ task }) => task)
  const seen: Event[] = []
  let isOver = false
  let news = Promise.withResolvers<void>()
  const wake = () => {
    news.resolve()
    news = Promise.withResolvers()
  }
  const cancel = async ({ now = false } = {}) => {
    const { client, task } = await begun
    await client.cancelTask(task, { now })
  }

  const follow = async (): Promise<TaskView> => {
    const { client, task, answered, end } = await begun
    const stop = () => void cancel().catch(() => undefined)
    signal?.addEventListener('abort', stop)
    if (signal?.aborted) stop()
    try {
      for await (const event of untilRest(client, { task, after, answered })) {
        seen.push(event)
        wake()
        onEvent?.(event)
      }
      return await client.getTask(task)
    } finally {
      signal?.removeEventListener('abort', stop)
      await end?.()
    }
  }
  const result = follow().finally(() => {
    isOver = true
    wake()
  })
  // Whoever reads the events, or awaits the task, hears of it there.
  for (const promise of [begun, id, result]) promise.catch(() => undefined)

  async function* events(): AsyncGenerator<Event> {
    for (let at = 0; ; at++) {
      while (at >= seen.length && !isOver) await news.promise
      if (at >= seen.length) break
      yield seen[at]!
    }
    await result
  }

  const goOn = async (answer: string | AnswerGiven, question: string | undefined): Promise<Begun> => {
    const { client, task, end } = await begun
    if (end)
      throw conflict(`Task ${task} was run by an engine for it alone; open one with createPawl and answer with pawl.follow.`)
    const named = question ?? (await client.getTask(task)).questions.find(({ state }) => state === 'pending')?.id
    if (named === undefined) throw conflict(`Task ${task} waits for no answer.`)
    await client.answerQuestion(named, answer)
    return { client, task, answered: named }
  }
  return {
    id,
    result,
    // biome-ignore lint/suspicious/noThenProperty: awaiting a run gives the task, which is what most want of it
    then: (onTask, onError) => result.then(onTask, onError),
    [Symbol.asyncIterator]: events,
    cancel,
    answer: (answer, { question } = {}) =>
      followRun(() => goOn(answer, question), { ...options, after: seen.at(-1)?.seq ?? after }),
  }
}

async function* untilRest(
  client: Verbs,
  { task, after, answered }: { task: string; after: number; answered: string | undefined },
): AsyncGenerator<Event> {
  const over = new AbortController()
  let isOn = answered === undefined
  // Where nobody works on a subtask any more, the task has come to rest too.
  const watchSubtasks = () =>
    void waitForSubtasks(client, task, over.signal).then(
      (goesOn) => goesOn || over.abort(),
      () => over.abort(),
    )
  try {
    for await (const event of client.followEvents(task, { after, signal: over.signal })) {
      yield event
      isOn ||= event.type === 'question.answered' && event.data.questionId === answered
      if (isOn && isRestingEvent(event)) return
      if (isOn && event.type === 'task.blocked') watchSubtasks()
    }
  } finally {
    over.abort()
  }
}
