import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import { PawlError } from '../../src/domain/error.ts'
import { isEnded, type TaskState } from '../../src/domain/task/task.ts'
import type { NewTask, TaskView } from '../../src/domain/view/view.ts'
import { archiveOf } from './archive.ts'
import { addDependent } from './dependents.ts'
import { type CrashHome, pause } from './home.ts'
import { billed } from './model-bill.ts'
import { spending } from './money.ts'
import { reviewer } from './review.ts'

/** What a client was told, and so may rely on. The checker knows nothing else. */
export interface Acknowledged {
  readonly id: string
  readonly key: string
  readonly body: NewTask
  readonly kind: Kind
  /** States in which this task may end; anything else is a violation. */
  readonly ends: readonly TaskState[]
  readonly answers: { readonly questionId: string; readonly answer: string }[]
  /** Files of its conversation that were taken away from it. */
  readonly lost: LostFile[]
}

export interface LostFile {
  /** Relative to the home of its session. */
  readonly path: string
  readonly bytes: Buffer
  /** The store had all of it at that time. */
  readonly wasArchived: boolean
  /** How many runs the task had had by then. */
  readonly afterRuns: number
}

/**
 * `restore` is a task of the demo agent, whose conversation is gone from the disk when its question is answered; `failover` one of an agent that is at its limit,
 * with which the demo agent goes on; `copied` works in a copy of a folder of the user's. The others are played by `agent.sh`.
 */
export type Kind =
  | 'plain'
  | 'ask'
  | 'hang'
  | 'crash-once'
  | 'fail-once'
  | 'stall-once'
  | 'slow'
  | 'ticking'
  | 'restore'
  | 'review'
  | 'reject'
  | 'split'
  | 'split-review'
  | 'failover'
  | 'needed'
  | 'needed-fails'
  | 'checked'
  | 'spend'
  | 'model'
  | 'files'
  | 'killer'
  | 'copied'

const script = readFileSync(fileURLToPath(new URL('./agent.sh', import.meta.url)), 'utf8')
const restWithinMs = 40_000

export interface Ask {
  readonly kind: Kind
  readonly tag: string
  /** Inside the walls, or as a plain process group that outlives its daemon. */
  readonly walled?: boolean
  readonly seconds?: number
}

export function newTask({ kind, tag, walled = false, seconds = 0 }: Ask): NewTask {
  if (kind === 'failover') return limitedTask(tag)
  const program =
    kind === 'restore'
      ? { adapter: 'demo' }
      : { adapter: 'custom', options: { command: commandOf(kind, seconds), ...optionsOf[kind] } }
  const profile = walled ? ('guarded' as const) : ('unattended-open' as const)
  const served = kind === 'model' ? billed : {}
  const agentConfig = ResolvedAgent.parse({ name: `crash-${kind}`, profile, graceMs: 1_000, ...program, ...served })
  const prompt = `${kind} of ${tag}\n– naïve “quotes”, 日本, \u2028, 🦀 –\n`
  return { prompt, agentConfig, tags: [tag], ...lifeOf(kind) }
}

const optionsOf: Partial<Record<Kind, object>> = { spend: spending, model: { modelFlag: '--model' } }

function lifeOf(kind: Kind): Partial<NewTask> {
  if (kind === 'review' || kind === 'reject') return { review: true }
  if (kind === 'checked') return { checks: { commands: [{ run: 'sleep 0.2; test -e prompt.txt' }], attempts: 0 } }
  if (kind !== 'split-review') return {}
  return { skipPlanning: true, subtasks: { most: 5, depth: 1, budgetShare: 0.5, whenDone: 'review' } }
}

/** Each has an account of its own, which nobody else finds at its limit. */
function limitedTask(tag: string): NewTask {
  const limit = { type: 'result', subtype: 'success', is_error: true, api_error_status: 429, session_id: vendorId }
  const steps = [
    { say: 'I have begun with a --no-question and its answer' },
    { line: { ...limit, result: "You've hit your weekly limit · resets in 3 days" } },
    { exit: 0 },
  ]
  const agentConfig = ResolvedAgent.parse({
    ...{ name: `crash-limited-${tag}`, adapter: 'claude-code', profile: 'unattended-open', graceMs: 1_000 },
    ...{ options: { command: fakeClaude }, env: { pass: [], set: { ANTHROPIC_API_KEY: 'key-of-the-crash-tests-0123456789' } } },
  })
  return { prompt: JSON.stringify(steps), agentConfig, tags: [tag], failover: ['demo'], skipPlanning: true }
}
const vendorId = '0f0f0f0f-0000-4000-8000-000000000000'
const fakeClaude = fileURLToPath(new URL('../fake-agent/fake-claude.js', import.meta.url))

const commandOf = (kind: Kind, seconds: number) => [
  'sh',
  '-c',
  script,
  'agent',
  kind,
  ...(kind === 'slow' ? [String(seconds)] : []),
]

/** Asks for one task as a careful client would: the same key until somebody has confirmed it. */
export async function create(home: CrashHome, ask: Ask): Promise<Acknowledged> {
  const key = `${ask.tag}.${ask.kind}`
  const body = {
    ...newTask(ask),
    ...(ask.kind === 'copied' ? { workspace: home.userFolder(key), workspaceMode: 'copy' as const } : {}),
  }
  const { task } = await home.ask((client) => client.createTask(body, { idempotencyKey: key }))
  const ends: readonly TaskState[] = endsOf[ask.kind] ?? ['completed']
  return { id: task.id, key, body, kind: ask.kind, ends, answers: [], lost: [] }
}

const endsOf: Partial<Record<Kind, readonly TaskState[]>> = {
  hang: ['cancelled'],
  'needed-fails': ['failed'],
  killer: ['blocked'],
}

/** One task from its creation to its rest, with whatever it needs from a person on the way. */
export async function play(
  home: CrashHome,
  ask: Ask,
  hooks: { onBegin?: (task: Acknowledged) => void | Promise<void> } = {},
): Promise<Acknowledged> {
  const made = await create(home, ask)
  let begun = false
  let again = false
  let cancelled = false
  const review = reviewer(home, ask)
  const dependentRests = await addDependent(home, made, ask)
  await untilRest(home, made, async (task) => {
    await review(task)
    if (!begun && hasBegun(task)) {
      begun = true
      await hooks.onBegin?.(made)
    }
    if (ask.kind === 'hang' && begun && !cancelled) {
      // Once: what was confirmed needs no reminder.
      await home.ask((client) => client.cancelTask(made.id))
      cancelled = true
    }
    const pending = task.questions.find((question) => question.state === 'pending')
    // Some answer while the agent still runs, some when the task has come to rest.
    const mayAnswer = task.state === 'blocked' || (ask.kind === 'ask' && ask.walled)
    if ((ask.kind === 'ask' || ask.kind === 'restore') && pending && mayAnswer) {
      if (ask.kind === 'restore') await loseConversation(home, made, task)
      const answer = `blue for ${ask.tag}`
      await home.ask((client) => client.answerQuestion(pending.id, answer))
      made.answers.push({ questionId: pending.id, answer })
    }
    if (ask.kind === 'fail-once' && task.state === 'failed' && !again) again = await tryAgain(home, made.id)
    return ask.kind === 'fail-once' && task.state === 'failed'
  })
  await dependentRests()
  return made
}

/** As a disk that was swapped, or a machine that was: nothing of the conversation is left but what is archived. */
async function loseConversation(home: CrashHome, made: Acknowledged, task: TaskView): Promise<void> {
  const folder = join(sessionHome(home, task), '.pawl-demo')
  const archived = await archiveOf(home, task.session)
  for (const name of namesIn(folder)) {
    const bytes = readFileSync(join(folder, name))
    const path = `.pawl-demo/${name}`
    const wasArchived = archived.some((file) => file.path === path && file.bytes.equals(bytes))
    rmSync(join(folder, name))
    made.lost.push({ path, bytes, wasArchived, afterRuns: task.runs.length })
  }
}

export const sessionHome = (home: CrashHome, task: Pick<TaskView, 'session'>) => join(home.dir, 'sessions', task.session)

/** True when the retry was confirmed, or when the task shows that an unconfirmed one was stored. */
async function tryAgain(home: CrashHome, id: string): Promise<boolean> {
  const client = await home.client()
  try {
    await client.retryTask(id)
    return true
  } catch (error) {
    if (error instanceof PawlError && error.code === 'unavailable') return false
    if (error instanceof PawlError && error.code === 'conflict') return true
    throw error
  }
}

export async function untilRest(home: CrashHome, made: Acknowledged, step: (task: TaskView) => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + restWithinMs + home.patienceMs
  for (;;) {
    const task = await home.ask((client) => client.getTask(made.id))
    // A person who is asked about a task because its workers died wants it again.
    if (task.state === 'blocked' && task.reason?.kind === 'worker_lost') await tryAgain(home, made.id)
    const goesOn = await step(task)
    if (isEnded(task.state) && !goesOn) return
    if (performance.now() > deadline) {
      const runs = task.runs.map((run) => `${run.id} ${run.state} ${run.outcome ?? ''}`).join('; ')
      throw new Error(
        `C9: task ${made.id} (${made.kind}) is still ${task.state} after ${restWithinMs / 1000} s. Its runs: ${runs}`,
      )
    }
    await pause(50)
  }
}

const hasBegun = (task: TaskView) => marksOf(task).some((mark) => mark.what === 'begin')

export interface Mark {
  readonly what: string
  readonly run: string
  /** Seconds since the boot. */
  readonly at: number
}

/** What the agents of a task wrote about themselves. */
export function marksOf(task: Pick<TaskView, 'workspace'>): Mark[] {
  const lines = readIfThere(join(task.workspace, 'marks'))
    .split('\n')
    .filter((line) => line !== '')
  return lines.map((line) => {
    const [what = '', run = '', at = ''] = line.split(' ')
    return { what, run, at: Number(at) }
  })
}

export const readIfThere = (file: string): string => ifThere(() => readFileSync(file, 'utf8')) ?? ''
export const namesIn = (folder: string): string[] => ifThere(() => readdirSync(folder)) ?? []

export function ifThere<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
