import { isObjectOrArray } from '../../domain/base/object.ts'
import { visibleExactly } from '../../domain/base/visible.ts'
import type { Event, EventType } from '../../domain/event/event.ts'
import { tokensOf } from '../../domain/money/cost.ts'
import type { Totals } from '../../domain/money/totals.ts'
import { formatBytes, formatCost, formatElapsed, formatMoney, formatState, formatTime, formatWalls } from './format.ts'
import { oneLine, plain } from './plain.ts'

/** What an event says to a person at a terminal. Longer texts keep their lines; whoever prints it indents them. */
export function renderEvent(event: Event): string {
  const line = (lines as Partial<Record<string, (event: Event) => string>>)[event.type]
  // A newer program may have written it: its name and number still lead to it in the JSON.
  return line ? line(event) : `${oneLine(event.type, 80)} (event ${event.seq})`
}

export type Tone = 'faint' | 'normal' | 'good' | 'bad' | 'ask'

/** How loud an event is. */
export function toneOf(event: Event): Tone {
  switch (event.type) {
    case 'task.completed':
      return event.data.outcome === undefined ? 'good' : 'ask'
    case 'task.failed':
    case 'task.timed_out':
    case 'task.over_budget':
      return 'bad'
    case 'task.blocked':
    case 'task.parked':
    case 'task.review':
    case 'question.asked':
      return 'ask'
    case 'check.ended':
      return event.data.passed ? 'good' : 'bad'
    case 'run.ended':
      return event.data.outcome === 'failed' || event.data.outcome === 'timed_out' ? 'bad' : 'faint'
    case 'run.started':
      return event.data.enforced ? 'faint' : 'bad'
    case 'agent.message':
    case 'message.sent':
    case 'session.rebuilt':
    case 'session.reset':
    case 'workspace.changed':
    case 'question.answered':
    case 'task.requeued':
    case 'task.cancel_requested':
    case 'task.cancelled':
      return 'normal'
    default:
      return 'faint'
  }
}

type Renderers = { [T in EventType]: (event: Extract<Event, { type: T }>) => string }

// A new event type does not compile until it has a line here.
const lines = {
  'task.queued': ({ data }) => `queued for ${oneLine(data.agent)} in ${oneLine(data.workspace)}${warned(data.warning)}`,
  'task.created': ({ data }) =>
    `accepted for ${oneLine(data.agent)} in ${oneLine(data.workspace)}; waits for ${list(data.waitsFor)}${warned(data.warning)}`,
  'task.edited': ({ data }) => `changed by ${oneLine(data.by)}`,
  'task.requeued': ({ data }) => `${requeued[data.why] ?? oneLine(data.why)}${detail(data.detail)}`,
  'task.cancel_requested': ({ data }) => `${oneLine(data.by)} asked to stop${data.now ? ' at once' : ''}`,
  'task.completed': ({ data }) =>
    `completed${short(data.outcome)}${data.verified ? ', checks passed' : ''}${data.by === undefined ? '' : `, accepted by ${oneLine(data.by)}`}${inAll(data.totals)}`,
  'task.review': ({ data }) =>
    `${data.outcome === undefined ? 'done' : formatState(data.outcome)}, waits for review${inAll(data.totals)}`,
  'task.failed': ({ data }) => `failed (${oneLine(data.category)}): ${oneLine(data.message)}${inAll(data.totals)}`,
  'task.timed_out': ({ data }) => `timed out (${oneLine(data.category)}): ${oneLine(data.message)}${inAll(data.totals)}`,
  'task.cancelled': ({ data }) => `cancelled by ${oneLine(data.by)}${inAll(data.totals)}`,
  'task.over_budget': ({ data }) => `over budget: ${oneLine(data.message)}${inAll(data.totals)}`,
  'task.blocked': ({ data }) =>
    `blocked: waits for ${blockedOn(data.kind)}${data.detail === undefined ? '' : `. ${oneLine(data.detail)}`}`,
  'task.parked': ({ data }) => `parked until ${formatTime(data.until)} (${oneLine(data.kind)})${detail(data.detail)}`,
  'subtask.created': ({ data }) => `handed over to subtask ${oneLine(data.task)}${detail(data.name)}`,
  'subtask.ended': ({ data }) => `subtask ${oneLine(data.task)} is ${formatState(oneLine(data.state))}${detail(data.name)}`,
  'run.admitted': ({ data }) => `may run (attempt ${data.attempt})`,
  'run.started': ({ data }) =>
    `started${data.attempt > 1 ? `, attempt ${data.attempt}` : ''}${data.resumed ? ', going on with its session' : ''}; ${formatWalls(data)}${data.soFar === undefined ? '' : `; so far ${formatTotals(data.soFar)}`}`,
  'run.ended': ({ data }) => {
    const how = data.signal ? ` (${oneLine(data.signal)})` : data.exitCode ? ` (exit code ${data.exitCode})` : ''
    const cost = data.costUsd ? `, ${formatMoney(data.costUsd)}` : ''
    return `run ${formatState(oneLine(data.outcome))}${data.category ? `, ${oneLine(data.category)}` : ''}${how}${cost}${detail(data.message)}`
  },
  'run.noted': ({ data }) => `note (${oneLine(data.code)}): ${oneLine(data.detail)}`,
  'agent.message': ({ data }) => plain(data.text),
  'agent.thinking': ({ data }) => `thinks: ${plain(data.text)}`,
  'agent.tool_called': ({ data }) => `${oneLine(data.tool, 60)} ${toolInput(data.input)}`.trimEnd(),
  'agent.tool_returned': ({ data }) => `${data.isError ? 'tool error: ' : '→ '}${firstLine(data.output)}`,
  'agent.usage': ({ data }) =>
    `used ${tokensOf(data.usage)} tokens${data.model === undefined ? '' : ` of ${oneLine(data.model, 60)}`}${data.costUsd === undefined ? '' : `, ${formatCost(data.costUsd, data.known)}`}`,
  'model.called': ({ data }) =>
    data.refusal && data.known === undefined
      ? `${oneLine(data.provider, 60)} did not serve ${oneLine(data.target, 60)}${data.alike ? ` (nor ${data.alike} calls before it)` : ''}: ${oneLine(data.refusal.message)}`
      : `${oneLine(data.target, 60)} at ${oneLine(data.provider, 60)} used ${data.usage ? `${tokensOf(data.usage)} tokens` : 'an unknown number of tokens'}, ${data.costUsd === undefined ? 'cost unknown' : formatCost(data.costUsd, data.known)}${data.refusal ? `, and broke off: ${oneLine(data.refusal.message)}` : ''}`,
  'agent.session': ({ data }) => `session ${oneLine(data.vendorId)} of the agent program`,
  'agent.retrying': ({ data }) =>
    `tries the model again (${data.attempt}${data.of === undefined ? '' : ` of ${data.of}`}): ${oneLine(data.detail)}`,
  'agent.compacted': ({ data }) => `shortened its memory of the conversation (${oneLine(data.trigger)})`,
  'agent.stderr': ({ data }) => `stderr: ${plain(data.text).trimEnd()}`,
  'agent.unknown': ({ data }) => `not understood: ${oneLine(data.raw, 200)}`,
  'session.restored': ({ data }) => `session put back from the archive (${oneLine(data.why)})`,
  'session.rebuilt': ({ data }) =>
    `session made anew from the journal${data.form === 'message' ? ', as a first message' : ''} (${oneLine(data.why)})`,
  'session.reset': ({ data }) => `a new session begins (${oneLine(data.why)})`,
  'session.adopted': ({ data }) => `goes on with session ${oneLine(data.vendorId)} of the agent program`,
  'message.sent': ({ data }) => `message: ${plain(data.text)}`,
  'workspace.changed': ({ data }) => oneLine(data.summary),
  'workspace.quarantined': ({ data }) => `moved out of the workspace to ${oneLine(data.keptAt)}: ${list(data.paths)}`,
  'workspace.flagged': ({ data }) => `changed what will be executed one day: ${list(data.paths)}`,
  'check.started': ({ data }) => `check ${data.number} of ${data.of}: ${oneLine(data.name, 160)}`,
  'check.ended': ({ data }) => {
    const took = `${(data.durationMs / 1000).toFixed(1)} s`
    const how = data.passed
      ? `passed in ${took}`
      : `FAILED after ${took} (${data.why === undefined ? `exit code ${data.exitCode}` : oneLine(data.why)})`
    return `check ${data.number} ${how}: ${oneLine(data.name, 160)}${data.changedTree ? '; it changed the workspace' : ''}`
  },
  'permission.decided': ({ data }) => `${oneLine(data.verdict)}: ${oneLine(data.call, 160)} (${oneLine(data.why)})`,
  'network.decided': ({ data }) => `network: ${reached[data.verdict]} ${oneLine(data.host)}:${data.port} (${oneLine(data.why)})`,
  'network.used': ({ data }) => {
    const allowed = data.hosts.filter((host) => host.verdict === 'allow')
    const bytes = allowed.reduce((sum, { sent, received }) => sum + sent + received, 0)
    return `network: ${allowed.length} ${allowed.length === 1 ? 'host' : 'hosts'} reached, ${bytes} bytes; ${data.hosts.length - allowed.length + data.others} refused`
  },
  'artifact.added': ({ data }) => `left ${oneLine(data.name)} (${formatBytes(data.size)})`,
  'hook.ran': ({ data }) =>
    `${oneLine(data.name)} ran${data.failure === undefined ? '' : ` and failed: ${oneLine(data.failure)}`}${data.output === '' ? '' : `\n${plain(data.output)}`}`,
  'question.asked': ({ data, ...event }) =>
    [
      `${data.kind === 'permission' ? 'asks for permission' : 'asks'} (${data.questionId ?? event.seq}): ${visibleExactly(data.text)}`,
      ...data.options.map((option, i) => `  ${i + 1}. ${oneLine(option)}`),
    ].join('\n'),
  'question.answered': ({ data }) => `answered by ${oneLine(data.by)}: ${plain(data.answer)}`,
  'question.escalated': ({ data }) =>
    `nobody answered (${data.questionId}); ${data.agent === undefined ? 'passed on to a webhook' : `${oneLine(data.agent)} is asked${data.task === undefined ? '' : ` by task ${data.task}`}`}, until ${formatTime(data.until)}`,
  'question.closed': ({ data }) => `question ${oneLine(data.state)}`,
} satisfies Renderers

const reached = { allow: 'may reach', ask: 'asked about', deny: 'may not reach' }
const list = (paths: readonly string[]) => paths.map((path) => oneLine(path)).join(', ')

const requeued: Record<Extract<Event, { type: 'task.requeued' }>['data']['why'], string> = {
  retry: 'queued for another try',
  answer: 'queued again with the answer',
  wake: 'queued again, the wait is over',
  interrupted: 'queued again, Pawl was stopped meanwhile',
  lost: 'queued again, its worker was lost',
  rejected: 'queued again, the review asked for changes',
  again: 'queued again on request',
  failover: 'queued again for another agent',
  checks: 'queued again, its checks did not pass',
  subtasks: 'queued again, its subtasks have ended',
  dependencies: 'queued, what it waited for is done',
}

export const blockedOn = (kind: string) =>
  ({
    question: 'an answer',
    permission: 'a permission',
    subtasks: 'its subtasks',
    no_progress: 'somebody: it makes no progress',
    worker_lost: 'somebody: its worker died twice while it ran alone',
    interrupted: 'somebody: it was cut short and is not begun again by itself',
    dependency_partial: 'somebody: what it depends on is only partly done',
    dependency_empty: 'somebody: what it depends on ended without an answer',
  })[kind] ?? oneLine(kind)

/** Of a single run its own end says it. */
const inAll = (totals: Totals | undefined) => (totals === undefined || totals.runs < 2 ? '' : ` (in all ${formatTotals(totals)})`)

function formatTotals({ runs, durationMs, usage, costUsd, known }: Totals): string {
  const tokens = tokensOf(usage)
  const parts = [
    `${runs} ${runs === 1 ? 'run' : 'runs'}`,
    formatElapsed(durationMs),
    ...(usage.turns === 0 ? [] : [`${usage.turns} ${usage.turns === 1 ? 'turn' : 'turns'}`]),
    ...(tokens === 0 ? [] : [`${tokens} tokens`]),
    ...(costUsd === undefined ? [] : [formatCost(costUsd, known)]),
  ]
  return parts.join(', ')
}

const short = (outcome: string | undefined) => (outcome === undefined ? '' : ` (${oneLine(outcome)})`)
const warned = (text: string | undefined) => (text ? `; warning: ${oneLine(text)}` : '')
const detail = (text: string | undefined) => (text ? `: ${oneLine(text)}` : '')

/** The part of a tool's input that tells most: a single text as it is, anything else as JSON. */
function toolInput(input: unknown): string {
  if (typeof input === 'string') return oneLine(input, 160)
  if (!isObjectOrArray(input)) return input === undefined ? '' : String(input)
  const values = Object.values(input)
  if (values.length === 1 && typeof values[0] === 'string') return oneLine(values[0], 160)
  return values.length === 0 ? '' : oneLine(JSON.stringify(input), 160)
}

function firstLine(output: string): string {
  const trimmed = output.trim()
  if (trimmed === '') return '(nothing)'
  const more = trimmed.split('\n').length - 1
  return `${oneLine(trimmed.split('\n', 1)[0]!, 160)}${more > 0 ? ` (+${more} ${more === 1 ? 'line' : 'lines'})` : ''}`
}
