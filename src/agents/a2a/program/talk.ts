import { setTimeout as wait } from 'node:timers/promises'
import type { Message, Part, StreamResponse } from '@a2a-js/sdk'
import { Failure } from './failure.ts'
import { type Hearing, hear, type Question } from './hearing.ts'
import { digestOf, messageIdOf } from './message-id.ts'
import { textPart } from './parts.ts'
import { firstContactMs, outageMs, persistently } from './patience.ts'
import { type Remote, unknownTask } from './remote.ts'
import type { Bookmark } from './settings.ts'
import { isOver, states } from './states.ts'

export interface Ask {
  readonly prompt: string
  /** The same however often it is asked. */
  readonly askId: string
  /** How far an earlier run came. */
  readonly mark: Bookmark
  readonly files: readonly Part[]
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

export interface Listener {
  say(record: object): Promise<void>
  /** Resolves when it is stored where no crash can reach it. */
  keep(mark: Bookmark): Promise<void>
  /** Undefined: nobody answers now. */
  answer(question: Question): Promise<string | undefined>
  readonly signal: AbortSignal
}

export interface Talk {
  /** How it ended: a state of the remote task, `message` for an answer without one, or that its question waits. */
  readonly ended: number | 'message' | 'blocked'
  readonly hearing: Hearing
  readonly mark: Bookmark
}

const mostOddities = 6

/** One thing that is asked of a remote agent, to its end, whatever becomes of the connection meanwhile. */
export async function talk(remote: Remote, ask: Ask, listener: Listener): Promise<Talk> {
  const { signal } = listener
  const hearing = hear(listener.say)
  let mark: Bookmark = { context: ask.mark.context }
  const note = (text: string) => listener.say({ type: 'note', text })

  let pending = await beginning()
  for (;;) {
    await untilSettled()
    const { question, state } = hearing
    if (hearing.direct !== undefined && mark.task === undefined) return { ended: 'message', hearing, mark }
    if (state !== states.inputRequired || !question) return { ended: state ?? states.failed, hearing, mark }
    const answer = await listener.answer(question)
    if (answer === undefined) return { ended: 'blocked', hearing, mark }
    const live = messageIdOf(mark.task ?? '', question.id, answer)
    await keep({ ...mark, live, said: digestOf(answer) })
    hearing.answered()
    pending = messageOf(live, [textPart(answer)], mark.task)
  }

  async function keep(next: Bookmark): Promise<void> {
    mark = next
    await listener.keep(next)
  }

  /** What has to be said first, or undefined if it was said before. */
  async function beginning(): Promise<Message | undefined> {
    const { mark: before, askId, prompt, files } = ask
    const { task } = before
    const opening = () =>
      messageOf(messageIdOf(askId, before.over ? (task ?? '') : ''), [textPart(prompt), ...files], undefined, task ? [task] : [])
    if (task === undefined || before.over || !isSameTask(before.sent, askId)) return opening()
    const found = await persistently(() => remote.get(task, signal), { ...listener, forMs: outageMs })
    if (!found) {
      await note(`The remote agent no longer knows task ${task}; it is asked anew.`)
      return opening()
    }
    mark = before
    await hearing.whole(found)
    const isRetold = before.live !== undefined && before.said === digestOf(prompt)
    const id = isRetold ? before.live! : messageIdOf(askId, task)
    const isHeard = before.sent === askId || found.history?.some(({ messageId }) => messageId === id)
    if (hearing.state !== states.inputRequired || isHeard) {
      await note(`Going on with task ${task} of the remote agent.`)
      return undefined
    }
    hearing.answered()
    return messageOf(id, [textPart(prompt)], task)
  }

  function messageOf(messageId: string, parts: Part[], taskId: string | undefined, referenceTaskIds: string[] = []): Message {
    const contextId = mark.context ?? ''
    const { metadata } = ask
    return { messageId, contextId, taskId: taskId ?? '', role: 1, parts, metadata, extensions: [], referenceTaskIds }
  }

  /** Until nothing more comes by itself. What is lost on the way is read from the task as a whole. */
  async function untilSettled(): Promise<void> {
    const isSettled = () => isAtRest(hearing) || (hearing.direct !== undefined && mark.task === undefined)
    let pauseMs = 250
    let oddities = 0
    let reachedAt = performance.now()
    let canWatch = remote.streams
    let mustLook = false
    while (!isSettled()) {
      signal.throwIfAborted()
      const began = performance.now()
      try {
        if (mustLook && !pending && (await look())) return
        mustLook = false
        if (pending ?? canWatch)
          for await (const event of pending ? remote.send(pending, signal) : remote.watch(mark.task ?? '', signal)) {
            pending = undefined
            reachedAt = performance.now()
            await take(event)
            if (isSettled()) return
          }
        else await wait(pauseMs, undefined, { signal })
        if (pending)
          throw new Failure('network', 'The remote agent ended its answer before it had begun it.', { isPassing: true })
        if (await look()) return
        reachedAt = performance.now()
        oddities = 0
      } catch (thrown) {
        signal.throwIfAborted()
        if (!(thrown instanceof Failure)) throw thrown
        await weather(thrown)
        mustLook = mark.task !== undefined
      }
      pauseMs = performance.now() - began > 5_000 ? 250 : Math.min(pauseMs * 2, mark.task === undefined ? 4_000 : 10_000)
      await wait(pauseMs, undefined, { signal })
    }

    /** Throws what another try cannot mend. */
    async function weather(failure: Failure): Promise<void> {
      if (pending?.contextId && pending.taskId === '' && (failure.code === unknownTask || failure.code === 'protocol_error')) {
        await note(
          `The remote agent does not go on with conversation ${pending.contextId}; a new one is begun. ${failure.message}`,
        )
        pending = { ...pending, contextId: '', referenceTaskIds: [] }
        mark = {}
        return
      }
      // It says of a task that it cannot be watched; then it is looked at from time to time.
      if (!pending && mark.task !== undefined && failure.code === 'protocol_error' && canWatch) {
        canWatch = false
        return
      }
      const patienceMs = mark.task === undefined ? firstContactMs : outageMs
      oddities += failure.message.includes('could not be understood') ? 1 : 0
      if (!failure.isPassing || oddities >= mostOddities || performance.now() - reachedAt > patienceMs) throw failure
      await listener.say({ type: 'retrying', detail: failure.message, delayMs: pauseMs })
      await delivered()
    }
  }

  /** A message whose answer was lost may have arrived: then the task knows it, and it is not sent again. */
  async function delivered(): Promise<void> {
    if (!pending || mark.task === undefined) return
    const { messageId } = pending
    const found = await remote.get(mark.task, signal).catch(() => undefined)
    if (found?.history?.some((message) => message.messageId === messageId)) pending = undefined
  }

  async function look(): Promise<boolean> {
    if (mark.task === undefined) return false
    const found = await remote.get(mark.task, signal)
    if (!found) throw new Failure(unknownTask, `The remote agent no longer knows task ${mark.task}.`)
    await hearing.whole(found)
    return isAtRest(hearing)
  }

  async function take({ payload }: StreamResponse): Promise<void> {
    switch (payload?.$case) {
      case 'task':
        if (await learn(payload.value.id, payload.value.contextId)) await hearing.whole(payload.value)
        return
      case 'statusUpdate':
        if (await learn(payload.value.taskId, payload.value.contextId)) await hearing.status(payload.value.status)
        return
      case 'artifactUpdate':
        if (await learn(payload.value.taskId, payload.value.contextId)) await hearing.artifact(payload.value)
        return
      case 'message':
        if (payload.value.contextId) await keep({ ...mark, context: idOf(payload.value.contextId), sent: ask.askId })
        await hearing.message(payload.value)
    }
  }

  /** Stored before anything else is done with it. False for what belongs to another task. */
  async function learn(task: string, context: string): Promise<boolean> {
    if (mark.task !== undefined && mark.task !== task) return false
    const { sent, context: known } = mark
    if (mark.task !== task || sent !== ask.askId || (context && known !== context))
      await keep({ ...mark, task: idOf(task), context: context ? idOf(context) : known, sent: ask.askId })
    return true
  }
}

const isAtRest = ({ state }: Hearing) => isOver(state) || state === states.inputRequired || state === states.authRequired

/** Asked for by the same task of ours, if not with the same words. */
const isSameTask = (sent: string | undefined, askId: string) => sent !== undefined && taskIn(sent) === taskIn(askId)
const taskIn = (askId: string) => askId.replace(/\.[0-9a-f]{16}$/, '')

/** Ids are a stranger's choice, and are stored and sent back. */
function idOf(given: string): string {
  if (given === '' || given.length > 500 || /[\u0000-\u001f\u007f]/.test(given))
    throw new Failure(
      'protocol_error',
      'The remote agent gave an id that cannot be kept: it is empty, too long, or no plain text.',
    )
  return given
}
