import { adapters, presets } from '../agents/index.ts'
import { parseDuration } from '../config/duration.ts'
import { isObjectOrArray } from '../domain/base/object.ts'
import { mountForms, writtenMount } from '../domain/task/written-mount.ts'

/** Where the value of a key goes in the request, and how it is read. A fault is the end of a sentence that begins with the key. */
export interface Field {
  readonly to: readonly string[]
  readonly read?: (value: unknown) => unknown
}

/** A wrong value; the message begins with "must". */
export class WrongValue extends Error {}

const to = (...path: string[]): Field => ({ to: path })
const read = (field: Field, reader: (value: unknown) => unknown): Field => ({ ...field, read: reader })

/** `90s`, `30m`, `1h30m`; a bare number means seconds. */
export function milliseconds(value: unknown): number {
  const parts =
    typeof value === 'string'
      ? /^(?:\d+(?:\.\d+)?\s*(?:ms|s|m|h|d)\s*)+$/.test(value.trim())
        ? value.match(/\d+(?:\.\d+)?\s*(?:ms|[smhd])/g)
        : [value]
      : [value]
  const sum = (parts ?? []).map((part) =>
    typeof part === 'string' || typeof part === 'number' ? parseDuration(part) : undefined,
  )
  if (sum.some((ms) => ms === undefined))
    throw new WrongValue('must be a duration such as 90s, 30m or 1h30m (a bare number means seconds)')
  return sum.reduce<number>((all, ms) => all + (ms ?? 0), 0)
}

const lines = (value: unknown) => (typeof value === 'string' ? [value] : value)
/** Under Claudomator's own key no money says nothing, as it does there: the agent's own cap holds. */
const dollars = (value: unknown) => (value === 0 ? undefined : value)

const budget = {
  usd: to('usd'),
  tokens: to('tokens'),
  turns: to('turns'),
  wall: read(to('wallMs'), milliseconds),
  wallMs: to('wallMs'),
  perRunUsd: to('perRunUsd'),
}

const retry = {
  attempts: to('attempts'),
  maxAttempts: to('attempts'),
  backoff: to('backoff'),
  delay: read(to('baseDelayMs'), milliseconds),
  baseDelayMs: to('baseDelayMs'),
  maxDelay: read(to('maxDelayMs'), milliseconds),
  maxDelayMs: to('maxDelayMs'),
}

const check = { run: to('run'), name: to('name'), timeout: read(to('timeoutMs'), milliseconds), timeoutMs: to('timeoutMs') }
const checks = {
  commands: read(to('commands'), (value) => commandsOf(value)),
  attempts: to('attempts'),
  home: to('home'),
}
const questions = {
  deadline: read(to('deadlineMs'), milliseconds),
  deadlineMs: to('deadlineMs'),
  afterDeadline: read(to('afterDeadline'), afterDeadlineOf),
  mayAnswer: to('mayAnswer'),
}
/** As in settings: a word, `{ proceed: ANSWER }`, `{ escalate: { agent | webhook } }`; or as the API has it. */
function afterDeadlineOf(value: unknown): unknown {
  if (typeof value === 'string') return { kind: value }
  if (!isObjectOrArray(value) || 'kind' in value) return value
  if ('proceed' in value) return { kind: 'proceed', answer: value.proceed }
  if ('escalate' in value && typeof value.escalate === 'object') return { kind: 'escalate', ...value.escalate }
  throw new WrongValue('must be deny, fail, {proceed: ANSWER}, {escalate: {agent: NAME}} or {escalate: {webhook: NOTIFICATION}}')
}

/** As on the command line, or as the API has it. */
function mountsOf(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  return value.map((mount: unknown) => {
    if (typeof mount !== 'string') return mount
    const read = writtenMount(mount)
    if (!read) throw new WrongValue(`must name folders as ${mountForms}`)
    return read
  })
}

const subtasks = {
  most: to('most'),
  depth: to('depth'),
  budgetShare: to('budgetShare'),
  whenDone: to('whenDone'),
  agents: to('agents'),
}

/** What may stand in a block that is about the agent; most of it also beside the block. */
const settings = {
  model: to('model'),
  workspace: to('workspace'),
  allowHome: to('allowHome'),
  workingDir: to('workspace'),
  projectDir: to('workspace'),
  profile: to('profile'),
  budgetUsd: to('budget', 'usd'),
  maxBudgetUsd: read(to('budget', 'usd'), dollars),
  allowedTools: to('allowedTools'),
  disallowedTools: to('disallowedTools'),
  mcpServers: to('mcpServers'),
  contextDirs: to('contextDirs'),
  contextFiles: to('contextDirs'),
  writableDirs: to('writableDirs'),
  mounts: read(to('mounts'), mountsOf),
  appendSystemPrompt: to('appendSystemPrompt'),
  role: to('role'),
  systemPromptAppend: to('appendSystemPrompt'),
  extraArgs: to('extraArgs'),
  additionalArgs: to('extraArgs'),
  skipPlanning: to('skipPlanning'),
} satisfies Record<string, Field>

export const inBlock: Readonly<Record<string, Field>> = {
  ...settings,
  name: to('agent'),
  type: to('agent'),
  prompt: to('prompt'),
  instructions: to('prompt'),
  // The program that Claudomator hands them to may write in such a folder.
  contextDirs: to('writableDirs'),
  contextFiles: to('writableDirs'),
  permissionMode: read(to('permissionMode'), profileOf),
}

export const inTask: Readonly<Record<string, Field>> = {
  ...settings,
  id: to('id'),
  name: to('name'),
  description: to('description'),
  prompt: to('prompt'),
  instructions: to('prompt'),
  session: to('session'),
  resetSession: to('resetSession'),
  outputSchema: to('outputSchema'),
  priority: to('priority'),
  tags: to('tags'),
  timeout: read(to('timeoutMs'), milliseconds),
  timeoutMs: to('timeoutMs'),
  workspaceMode: to('workspaceMode'),
  bringBack: to('bringBack'),
  budget: to('budget'),
  template: to('template'),
  context: to('context'),
  retry: to('retry'),
  dependsOn: read(to('dependsOn'), lines),
  acceptPartial: to('acceptPartial'),
  parent: to('parent'),
  parentTaskId: to('parent'),
  review: to('review'),
  record: to('record'),
  checks: to('checks'),
  once: to('once'),
  failover: read(to('failover'), lines),
  questions: to('questions'),
  subtasks: to('subtasks'),
  schedule: to('schedule'),
  attachments: read(to('attachments'), lines),
}

/** Maps inside a task, with their own keys. `checks` may be a list of commands as well. */
export const maps: Readonly<Record<string, Readonly<Record<string, Field>>>> = { budget, retry, checks, questions, subtasks }
/** A block about the agent is called `agent`, or by the name of an agent that is always there. */
export const blocks: readonly string[] = [
  'agent',
  ...adapters.flatMap(({ builtin }) => (builtin ? [builtin.name] : [])),
  ...presets.map(({ name }) => name),
]

function commandsOf(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  return value.map((command: unknown) => {
    if (typeof command === 'string') return { run: command }
    if (!isObjectOrArray(command)) return command
    return Object.fromEntries(
      Object.entries(command).map(([key, inner]) => {
        const field = (check as Record<string, Field>)[camel(key)]
        return field ? [field.to[0], field.read ? field.read(inner) : inner] : [key, inner]
      }),
    )
  })
}

/** A list of commands is the short form of checks. */
export const wholeChecks = (value: unknown): unknown => (Array.isArray(value) ? { commands: commandsOf(value) } : value)

/** `depends_on` and `dependsOn` are one key. Looks back, so that a long row of underscores is tried once and not from each of them. */
export const camel = (key: string) => key.replace(/(?<!_)_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/**
 * Nobody is asked under `guarded` either, inside its walls. The other modes ask somebody, edit without running anything, or only plan: no profile does just that.
 */
function profileOf(mode: unknown): string | undefined {
  if (mode === undefined || mode === null || mode === '') return undefined
  if (mode === 'bypassPermissions') return 'guarded'
  throw new WrongValue(
    mode === 'default' || mode === 'acceptEdits' || mode === 'plan'
      ? 'must be bypassPermissions, which is "profile: guarded" here; for a mode that asks or holds back write "profile: strict" in its place'
      : 'must be bypassPermissions, or a profile in its place, such as "profile: strict"',
  )
}

/** What files of Claudomator may say and Pawl decides elsewhere. */
export const refused: Readonly<Record<string, string>> = {
  permissionMode: 'belongs into the block of the agent; beside it write "profile: guarded", or "profile: strict"',
  state: 'is decided by Pawl itself; leave it out',
}
