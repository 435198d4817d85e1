import { TaskNotCancelableError, UnsupportedOperationError } from '@a2a-js/sdk/errors'
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server'
import { invalid } from '../../domain/error.ts'
import { isTerminal, stageOf } from '../../domain/task/stage.ts'
import { isEnded } from '../../domain/task/task.ts'
import { taskHere } from './access.ts'
import { callerWith, signalOf } from './call.ts'
import { a2aError } from './errors.ts'
import { follow, whenAtRest } from './follow.ts'
import { list } from './list.ts'
import type { A2AParts } from './parts.ts'
import { send } from './send.ts'
import { newTask, snapshotOf } from './task.ts'

/**
 * One endpoint of A2A: every operation of the protocol as a view of our tasks. It keeps nothing between two calls, so any process of the same database answers alike,
 * before and after a restart. Who calls stands in the context (`callOf`); every transport shares this. Whatever it throws is an `A2AError`.
 */
export function createA2AHandler(parts: A2AParts): A2ARequestHandler {
  const { cards, agent, log } = parts
  const inWords = <T>(work: () => Promise<T>): Promise<T> =>
    work().catch((thrown: unknown) => {
      throw a2aError(thrown, log)
    })
  async function* streamed<T>(work: () => AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
    try {
      yield* work()
    } catch (thrown) {
      throw a2aError(thrown, log)
    }
  }
  const signal = (context: ServerCallContext) => AbortSignal.any([parts.signal, signalOf(context)])

  return {
    getAgentCard: () => inWords(() => cards.publicCard(agent)),
    getAuthenticatedExtendedAgentCard: (_request, context) =>
      inWords(async () => {
        callerWith('speak', context)
        return cards.extendedCard(agent)
      }),

    sendMessage: (request, context) =>
      inWords(async () => {
        const historyLength = lengthIn(request.configuration?.historyLength)
        const sent = await send(parts, request, context)
        if ('reply' in sent) return sent.reply
        const { task: id, caller } = sent
        if (request.configuration?.returnImmediately)
          return sent.made
            ? newTask(sent.made, request.message?.messageId ?? '', { caller, historyLength })
            : (await snapshotOf(parts, id, { caller, historyLength })).task
        const fromStart = !request.message?.taskId
        return (await whenAtRest(parts, id, { caller, historyLength, fromStart, signal: signal(context) })).task
      }),

    sendMessageStream: (request, context) =>
      streamed(async function* () {
        const historyLength = lengthIn(request.configuration?.historyLength)
        const sent = await send(parts, request, context)
        if ('reply' in sent) return yield { payload: { $case: 'message', value: sent.reply } }
        const { task: id, caller } = sent
        yield* follow(parts, id, { caller, historyLength, untilInterrupted: true, signal: signal(context) })
      }),

    getTask: (request, context) =>
      inWords(async () => {
        const caller = callerWith('read', context)
        const historyLength = lengthIn(request.historyLength)
        const { id } = await taskHere(parts, request.id)
        return (await snapshotOf(parts, id, { caller, historyLength })).task
      }),

    listTasks: (request, context) => inWords(() => list(parts, request, context)),

    cancelTask: (request, context) =>
      inWords(async () => {
        const caller = callerWith('work', context)
        const task = await taskHere(parts, request.id)
        if (isEnded(task.state))
          throw new TaskNotCancelableError(`Task ${task.id} has ended (${task.state}); nothing of it is left to cancel.`)
        await parts.runtime.cancelTask(task.id, { ...caller, now: false })
        // A running one ends with grace; whoever cancels is told how it ended.
        return (await whenAtRest(parts, task.id, { caller, signal: signal(context) })).task
      }),

    resubscribe: (request, context) =>
      streamed(async function* () {
        const caller = callerWith('read', context)
        const task = await taskHere(parts, request.id)
        if (isTerminal(stageOf(task)))
          throw new UnsupportedOperationError(`Task ${task.id} has ended (${task.state}); ask for it with GetTask.`)
        yield* follow(parts, task.id, { caller, untilInterrupted: false, signal: signal(context) })
      }),

    createTaskPushNotificationConfig: (request, context) =>
      inWords(async () => parts.pushConfigs().createTaskPushNotificationConfig(request, context)),
    getTaskPushNotificationConfig: (request, context) =>
      inWords(async () => parts.pushConfigs().getTaskPushNotificationConfig(request, context)),
    listTaskPushNotificationConfigs: (request, context) =>
      inWords(async () => parts.pushConfigs().listTaskPushNotificationConfigs(request, context)),
    deleteTaskPushNotificationConfig: (request, context) =>
      inWords(async () => parts.pushConfigs().deleteTaskPushNotificationConfig(request, context)),
  }
}

function lengthIn(length: number | undefined): number | undefined {
  if (length !== undefined && (!Number.isInteger(length) || length < 0)) throw invalid('historyLength must not be negative.')
  return length
}
