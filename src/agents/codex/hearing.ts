import { asObject } from '../../domain/base/object.ts'
import type { Turn } from '../port.ts'
import { text } from '../shared/fields.ts'
import type { Params } from '../shared/json-rpc.ts'
import { clean, type TextKeeper } from '../shared/text.ts'
import { createUnknownLines } from '../shared/unknown.ts'
import { hearComplaints } from './complaints.ts'
import { readSteps } from './items.ts'
import { createTranslator } from './translate.ts'
import type { UsageMeter } from './usage.ts'
import type { Failure } from './verdict.ts'

/** What app-server says during one turn. */
export interface Hearing {
  notified(method: string, params: Params, line: string): Promise<void>
  notUnderstood(line: string): Promise<void>
  paused(): Promise<void>
  stderr(chunk: Buffer): Promise<void>
  begin(turn: { threadId: string; turnId?: string | undefined }): void
  session(vendorId: string): Promise<void>
  inputOf(callId: string): unknown
  /** How the turn ended, as soon as the program says so. */
  readonly over: Promise<Ended>
  /** What begins from here on does not belong to the turn. */
  readonly isOver: boolean
  readonly complaints: TextKeeper
  /** Sends what is still held; what comes later is not told any more. */
  end(): Promise<void>
  answer(): string
  soFar(): string
}

export type Ended = { readonly status: 'completed' | 'interrupted' } | { readonly status: 'failed'; readonly failure: Failure }

export function hear(turn: Turn, usage: UsageMeter, modelOf: () => string | undefined = () => undefined): Hearing {
  // Events come from what is read and from what is answered: one at a time all the same.
  let emitted: Promise<unknown> = Promise.resolve()
  let isOver = false
  let isClosed = false
  const emit: Turn['emit'] = (event) => {
    const now = emitted.then(() => (isClosed ? undefined : turn.emit(event)))
    emitted = now.catch(() => {})
    return now
  }
  const translator = createTranslator(emit)
  const unknown = createUnknownLines({ ...turn, emit })
  const stderr = hearComplaints(emit)
  const over = Promise.withResolvers<Ended>()
  let threadId: string | undefined
  let turnId: string | undefined
  let lastError: Failure | undefined
  let resetsAt: Date | undefined

  /** Agents that the agent starts have threads of their own, which end when they like. */
  const isOurs = (params: Params) => params.threadId === undefined || threadId === undefined || params.threadId === threadId

  async function item(params: Params, state: 'started' | 'completed', line: string): Promise<void> {
    await unknown.flush()
    if (!(await translator.item(params.item, state, isOurs(params)))) await unknown.add(line)
  }

  async function failed(params: Params, line: string): Promise<void> {
    const error = asObject(params.error)
    const message = text(error?.message)
    if (message === undefined) return unknown.add(line)
    if (params.willRetry !== true) {
      if (isOurs(params)) lastError = { message, info: error?.codexErrorInfo }
      return
    }
    await unknown.flush()
    await translator.retrying(message, text(error?.additionalDetails))
  }

  function completed(params: Params): void {
    const told = asObject(params.turn)
    if (!isOurs(params) || (turnId !== undefined && told?.id !== undefined && told.id !== turnId)) return
    isOver = true
    if (told?.status === 'completed' || told?.status === 'interrupted') {
      over.resolve({ status: told.status })
    } else {
      const error = asObject(told?.error)
      const failure = error ? { message: text(error.message) ?? '', info: error.codexErrorInfo } : lastError
      over.resolve({ status: 'failed', failure: { message: 'It gave no reason.', ...failure, resetsAt } })
    }
  }

  return {
    over: over.promise,
    get isOver() {
      return isOver
    },
    complaints: stderr.kept,
    async notified(method, params, line) {
      switch (method) {
        case 'item/started':
          return item(params, 'started', line)
        case 'item/completed':
          return item(params, 'completed', line)
        case messageDelta:
          if (!isOurs(params)) return
          translator.delta(text(params.itemId) ?? '', text(params.delta) ?? '')
          return turn.grow?.('message', clean(text(params.delta) ?? ''))
        case 'item/reasoning/summaryTextDelta':
          return isOurs(params) ? turn.grow?.('thinking', clean(text(params.delta) ?? '')) : undefined
        case 'thread/tokenUsage/updated': {
          const thread = text(params.threadId) ?? ''
          // Before the turn has begun, it is what earlier turns used.
          const used = usage.update(thread, params.tokenUsage, turnId !== undefined || !isOurs(params))
          // What agents of the agent use is no turn of its own.
          const turns = isOurs(params) ? 1 : 0
          const model = modelOf()
          if (used)
            await emit({ type: 'agent.usage', data: { usage: { ...used, turns }, ...(model === undefined ? {} : { model }) } })
          return
        }
        case 'account/rateLimits/updated':
          resetsAt = fullAgainAt(params.rateLimits) ?? resetsAt
          return
        case 'turn/plan/updated':
          await unknown.flush()
          return isOurs(params) ? translator.plan(readSteps(params.plan)) : undefined
        case 'thread/compacted':
          await unknown.flush()
          return isOurs(params) ? translator.compacted() : undefined
        case 'error':
          return failed(params, line)
        case 'turn/started':
          if (isOurs(params)) turnId ??= text(asObject(params.turn)?.id)
          return
        case 'turn/completed':
          return completed(params)
        case 'mcpServer/startupStatus/updated':
          return params.status === 'failed' ? unknown.add(line) : undefined
        default:
          if (!isHarmless(method)) return unknown.add(line)
          if (isOfCall.test(method)) turn.sign?.('call')
          else if (isPiece.test(method)) turn.sign?.('news')
      }
    },
    notUnderstood: (line) => unknown.add(line),
    paused: () => unknown.flush(),
    stderr: (chunk) => stderr.push(chunk),
    begin(now) {
      threadId = now.threadId
      turnId = now.turnId ?? turnId
    },
    session: async (vendorId) => emit({ type: 'agent.session', data: { vendorId } }),
    inputOf: translator.inputOf,
    async end() {
      await unknown.flush()
      await stderr.end()
      await emitted
      isOver = true
      isClosed = true
    },
    answer: translator.answer,
    soFar: translator.soFar,
  }
}

/** The time at which every limit that is used up is full again. */
function fullAgainAt(limits: unknown): Date | undefined {
  const windows = [asObject(limits)?.primary, asObject(limits)?.secondary].map(asObject)
  const times = windows.flatMap((window) =>
    typeof window?.usedPercent === 'number' && window.usedPercent >= 100 && typeof window.resetsAt === 'number'
      ? [window.resetsAt * 1000]
      : [],
  )
  return times.length > 0 ? new Date(Math.max(...times)) : undefined
}

/** Does it tell that the program, or an agent of its agent, is at work? Between two turns it may not be. */
export const isActivity = (method: string) =>
  method === 'turn/started' || method === 'thread/compacted' || method.startsWith('item/')

/** What says nothing that anybody would want to read later. */
export const isHarmless = (method: string) =>
  harmlessMethods.has(method) || (method !== messageDelta && harmlessPattern.test(method))

/** Output of a command, or progress of a server's tool: the call is open. */
const isOfCall = /^item\/(?:commandExecution|mcpToolCall|fileChange)\/|\/progress$/
const isPiece = /^item\/.*[dD]elta$|^rawResponse/

const messageDelta = 'item/agentMessage/delta'

/** Pieces of what comes whole later, and the events of an older protocol that came beside these. */
const harmlessPattern =
  /(?:[dD]elta|\/progress)$|^(?:codex\/event|thread\/realtime|fuzzyFileSearch|windows\w*|hook|process|externalAgentConfig)\//

const harmlessMethods = new Set([
  'account/login/completed',
  'account/updated',
  'app/list/updated',
  'configWarning',
  'deprecationNotice',
  'fs/changed',
  'item/commandExecution/terminalInteraction',
  'item/fileChange/patchUpdated',
  'item/reasoning/summaryPartAdded',
  'model/safetyBuffering/updated',
  'model/verification',
  'project/changed',
  'rawResponse/completed',
  'rawResponseItem/completed',
  'remoteControl/status/changed',
  'serverRequest/resolved',
  'skills/changed',
  'thread/archived',
  'thread/attachment/updated',
  'thread/closed',
  'thread/environment/connected',
  'thread/environment/disconnected',
  'thread/goal/cleared',
  'thread/goal/updated',
  'thread/name/updated',
  'thread/prediction/updated',
  'thread/project/updated',
  'thread/queue/changed',
  'thread/readState/changed',
  'thread/settings/updated',
  'thread/started',
  'thread/status/changed',
  'turn/diff/updated',
  'turn/moderationMetadata',
  'warning',
])
