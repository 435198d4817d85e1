import { createHash } from 'node:crypto'
import { isAbsolute, join, normalize } from 'node:path'
import type { Adapter } from '../agent.ts'
import type { Clock } from '../clock.ts'
import type { ResolvedAgent } from '../domain/agent-config.ts'
import { conflict, invalid, messageOf, notFound, PawlError, unavailable } from '../domain/error.ts'
import type { Event } from '../domain/event.ts'
import { newId } from '../domain/id.ts'
import { didYouMean } from '../domain/nearest.ts'
import { Answer } from '../domain/question.ts'
import { rankOf, type TaskState } from '../domain/task.ts'
import type { AgentView, HealthView, NewTask, Page, QuestionView, TaskSummary, TaskView } from '../domain/view.ts'
import { fp } from '../failpoint.ts'
import { type Db, isConnectionLoss, isDiskFull } from '../store/database.ts'
import * as questions from '../store/questions.ts'
import { findSession, runsOfTask } from '../store/runs.ts'
import * as tasks from '../store/tasks.ts'
import type { Bus } from './bus.ts'
import type { Journal } from './journal.ts'
import { questionView, taskSummary, taskView } from './views.ts'
import { assertUsable } from './workspace.ts'

/** Who asked: written into the journal. */
export interface Caller {
  readonly by: string
}

/** The verbs every surface calls. They decide; surfaces only translate. Each refuses with a `PawlError`. */
export interface Runtime {
  /** Durable when it resolves. The same key with the same body gives the same task; with another body, `conflict`. */
  createTask(task: NewTask, options: Caller & { idempotencyKey?: string | undefined }): Promise<{ task: TaskView; created: boolean }>
  getTask(id: string): Promise<TaskView>
  /** Newest first. `cursor` is the `next` of an earlier page. */
  listTasks(filter: TaskFilter): Promise<Page<TaskSummary>>
  /** Ends a waiting task at once and a running one with grace, or without it if `now`. Cancelling twice is fine; an ended task is left as it is. */
  cancelTask(id: string, options: Caller & { now: boolean }): Promise<TaskView>
  /** Queues a task that has come to rest again: its conversation goes on, or starts anew if `fresh`. */
  retryTask(id: string, options: Caller & { fresh: boolean }): Promise<TaskView>
  listQuestions(filter: { state?: QuestionView['state'] | undefined; task?: string | undefined }): Promise<QuestionView[]>
  /** Stores the answer and queues the task in one step. Answering again with the same text is fine, with another is a `conflict`. */
  answerQuestion(id: string, answer: string, caller: Caller): Promise<QuestionView>
  /** Events after number `after`, at most `limit`. */
  readEvents(task: string, options: { after: number; limit: number }): Promise<Event[]>
  /** Batches of events after `after` as they become durable, without gap or repeat, until the signal aborts. Rejects at once for an unknown task. */
  followEvents(task: string, options: { after: number; signal: AbortSignal }): AsyncIterable<Event[]>
  listAgents(): Promise<AgentView[]>
  health(): Promise<HealthView>
  /** Resolves if work can be taken; rejects with `unavailable` and the reason if not. */
  ready(): Promise<void>
}

export interface TaskFilter {
  readonly states?: readonly TaskState[] | undefined
  readonly agent?: string | undefined
  readonly tag?: string | undefined
  readonly text?: string | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

export interface RuntimeParts {
  readonly db: Db
  readonly journal: Journal
  readonly bus: Bus
  readonly clock: Clock
  readonly home: string
  readonly adapterNamed: (name: string) => Adapter
  readonly agents: readonly ResolvedAgent[]
  readonly defaultAgent: () => Promise<string>
  readonly describeAgents: () => Promise<AgentView[]>
  readonly describeSelf: () => Promise<Omit<HealthView, 'tasks'>>
  /** Tasks made here are kept for this process alone while it lives: one-shots run their own task and nobody else's. */
  readonly boundTo: string | null
  readonly maxQueued: number
  /** Throws why no work can be taken now: a full disk, for one. */
  readonly assertRoom: () => Promise<void>
}

export function createRuntime(parts: RuntimeParts): Runtime {
  const { db, journal, bus, clock } = parts
  const now = () => new Date(clock.now())

  const existing = async (id: string) => {
    const task = await guarded(() => tasks.findTask(db, id))
    if (!task) throw notFound(`There is no task ${id}; "pawl ls" lists those there are.`)
    return task
  }
  const view = async (id: string) => {
    const [task, runs, asked] = await guarded(() => Promise.all([existing(id), runsOfTask(db, id), questions.questionsOfTask(db, id)]))
    return taskView(task, runs, asked)
  }
  const closeQuestions = async (tx: Parameters<Parameters<Journal['transact']>[1]>[0], record: Parameters<Parameters<Journal['transact']>[1]>[1], task: string) => {
    for (const questionId of await questions.closeQuestions(tx, task)) record({ task, event: { type: 'question.closed', data: { questionId, state: 'cancelled' } } })
  }

  let roomSeenAt = Number.NEGATIVE_INFINITY
  /** Asking the file system costs as much as a query, and a second of tasks does not fill the reserve. */
  const assertRoom = async () => {
    if (clock.monotonic() - roomSeenAt < 1_000) return
    await parts.assertRoom()
    roomSeenAt = clock.monotonic()
  }

  const resolveAgent = async (task: NewTask): Promise<ResolvedAgent> => {
    let agent = task.agentConfig
    if (!agent) {
      const name = task.agent ?? (await parts.defaultAgent())
      agent = parts.agents.find((known) => known.name === name)
      const names = parts.agents.map((known) => known.name)
      if (!agent) throw invalid(`There is no agent "${name}"${didYouMean(name, names)} Agents are: ${names.join(', ')}.`)
    }
    const adapter = parts.adapterNamed(agent.adapter)
    const options = adapter.options.safeParse(agent.options)
    if (!options.success) throw invalid(`Agent "${agent.name}": ${options.error.issues.map((issue) => `${issue.path.join('.') || 'options'}: ${issue.message}`).join('; ')}`)
    if (task.model !== undefined && !adapter.can.model) throw new PawlError('unsupported', `Agent "${agent.name}" takes no model; leave --model out.`)
    return {
      ...agent,
      ...(task.model === undefined ? {} : { model: task.model }),
      ...(task.profile === undefined ? {} : { profile: task.profile as ResolvedAgent['profile'] }),
      ...(task.timeoutMs === undefined ? {} : { timeoutMs: task.timeoutMs === 0 ? null : task.timeoutMs }),
    }
  }

  return {
    async createTask(input, { idempotencyKey }) {
      const bodyHash = idempotencyKey === undefined ? '' : createHash('sha256').update(JSON.stringify(input)).digest('hex')
      if (idempotencyKey !== undefined) {
        const seen = await guarded(() => tasks.findByIdempotencyKey(db, idempotencyKey))
        if (seen) return repeated(seen, bodyHash, view)
      }
      const agent = await resolveAgent(input)
      await assertRoom()
      const id = newId('task', clock.now())
      const workspace = input.workspace === undefined ? join(parts.home, 'workspaces', id) : await usableWorkspace(input.workspace)
      const wanted = input.session
      const session = wanted === undefined ? undefined : await guarded(() => findSession(db, wanted))
      if (wanted !== undefined && !session) throw invalid(`There is no session ${input.session}.`)
      if (session && session.adapter !== agent.adapter) throw invalid(`Session ${session.id} belongs to agent "${session.agent}"; use that agent.`)
      const priority = input.priority ?? 0
      await fp('task.create.before')
      const inserted = await guarded(() =>
        tasks.insertTask(db, {
          id,
          session: { id: session?.id ?? newId('session', clock.now()), isNew: !session },
          agent,
          prompt: input.prompt,
          workspace,
          workspaceOwn: input.workspace === undefined,
          priority,
          rank: rankOf(clock.now(), priority),
          tags: input.tags ?? [],
          extraArgs: input.extraArgs ?? [],
          attended: input.attended ?? false,
          boundTo: parts.boundTo,
          at: now(),
          idempotency: idempotencyKey === undefined ? undefined : { key: idempotencyKey, bodyHash },
        }).catch((error: unknown) => {
          // Two requests with one key at the same moment: the primary key lets one through.
          if (idempotencyKey !== undefined && (error as { code?: unknown }).code === '23505') return undefined
          throw error
        }),
      )
      await fp('task.create.after')
      if (!inserted) {
        const seen = idempotencyKey === undefined ? undefined : await guarded(() => tasks.findByIdempotencyKey(db, idempotencyKey))
        if (seen) return repeated(seen, bodyHash, view)
        throw new Error(`task ${id} was not stored, and no other has its key`)
      }
      journal.announce(id)
      bus.tell('admission')
      return { task: taskView(inserted, [], []), created: true }
    },

    getTask: view,

    async listTasks(filter) {
      const before = filter.cursor === undefined ? undefined : readCursor(filter.cursor)
      const rows = await guarded(() => tasks.listTasks(db, { ...filter, limit: filter.limit + 1, before }))
      const items = rows.slice(0, filter.limit)
      const last = items.at(-1)
      return { items: items.map(taskSummary), next: rows.length > filter.limit && last ? writeCursor(last.created_at, last.id) : null }
    },

    async cancelTask(id, { now: atOnce, by }) {
      await existing(id)
      await guarded(() =>
        journal.transact('task.cancel', async (tx, record) => {
          await tasks.lockTask(tx, id)
          const waiting = await tasks.moveTask(tx, id, 'cancel_waiting', { at: now(), reason: { kind: 'cancelled' } })
          if (waiting) {
            await closeQuestions(tx, record, id)
            record({ task: id, event: { type: 'task.cancelled', data: { by } } })
          } else if (await tasks.requestCancel(tx, id, { now: atOnce, by, at: now() })) {
            record({ task: id, event: { type: 'task.cancel_requested', data: { now: atOnce, by } } })
          }
        }),
      )
      bus.tell('cancel', id)
      return view(id)
    },

    async retryTask(id, { fresh }) {
      const before = await existing(id)
      await guarded(() =>
        journal.transact('task.retry', async (tx, record) => {
          const continuation = { kind: 'retry', fresh, note: '' } as const
          const moved = await tasks.moveTask(tx, id, 'retry', {
            at: now(),
            reason: null,
            continuation,
            attempts: 0,
            rank: rankOf(clock.now(), before.priority),
            result: null,
          })
          if (!moved) throw conflict(`Task ${id} is ${before.state}; only a task that has come to rest can be retried.`)
          await closeQuestions(tx, record, id)
          record({ task: id, event: { type: 'task.requeued', data: { why: 'again', ...(fresh ? { detail: 'with a new conversation' } : {}) } } })
        }),
      )
      bus.tell('admission')
      return view(id)
    },

    async listQuestions(filter) {
      return (await guarded(() => questions.listQuestions(db, filter))).map(questionView)
    },

    async answerQuestion(id, answer, { by }) {
      const parsed = Answer.safeParse(answer)
      if (!parsed.success) throw invalid('An answer has between 1 and 65,536 characters.')
      const question = await guarded(() => questions.findQuestion(db, id))
      if (!question) throw notFound(`There is no question ${id}; "pawl task show" names those of a task.`)
      await guarded(() =>
        journal.transact('question.answer', async (tx, record) => {
          const task = await tasks.lockTask(tx, question.task_id)
          if (!(await questions.answerQuestion(tx, id, { answer, by, at: now() }))) {
            const current = await questions.findQuestion(tx, id)
            if (current?.state === 'answered' && current.answer === answer) return
            throw conflict(`Question ${id} is ${current?.state ?? 'gone'} already${current?.answer ? `: "${current.answer}"` : ''}.`)
          }
          record({ task: question.task_id, event: { type: 'question.answered', data: { questionId: id, answer, by } } })
          // A task that is still running takes the answer along when its run ends.
          const moved = await tasks.moveTask(tx, question.task_id, 'answer', {
            at: now(),
            reason: null,
            attempts: 0,
            continuation: { kind: 'answer', questionId: id, question: question.text, answer },
            ...(task ? { rank: rankOf(task.created_at.getTime(), task.priority) } : {}),
          })
          if (moved) record({ task: question.task_id, event: { type: 'task.requeued', data: { why: 'answer' } } })
        }),
      )
      bus.tell('admission')
      return questionView((await guarded(() => questions.findQuestion(db, id)))!)
    },

    async readEvents(task, page) {
      await existing(task)
      return guarded(() => journal.read(task, page))
    },

    async *followEvents(task, { after, signal }) {
      await existing(task)
      yield* journal.follow(task, { after, signal })
    },

    listAgents: parts.describeAgents,
    async health() {
      return { ...(await parts.describeSelf()), tasks: await guarded(() => tasks.countByState(db)) }
    },
    async ready() {
      await guarded(() => tasks.countByState(db))
      await parts.assertRoom()
    },
  }
}

async function usableWorkspace(path: string): Promise<string> {
  if (!isAbsolute(path) || path.includes('\0')) throw invalid(`The workspace must be an absolute path, not "${path}".`)
  const clean = normalize(path)
  await assertUsable(clean)
  return clean.length > 1 && clean.endsWith('/') ? clean.slice(0, -1) : clean
}

async function repeated(seen: { task_id: string; body_hash: string }, bodyHash: string, view: (id: string) => Promise<TaskView>): Promise<{ task: TaskView; created: boolean }> {
  if (seen.body_hash !== bodyHash) throw conflict(`This Idempotency-Key was used for another request (task ${seen.task_id}); choose a new key.`)
  return { task: await view(seen.task_id), created: false }
}

/** What the database says of itself, as what the caller can do about it. */
async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof PawlError) throw error
    if (isDiskFull(error)) throw unavailable('The disk is full; free some space and try again. Nothing was lost.', error)
    if (isConnectionLoss(error)) throw unavailable(`The database is away for the moment: ${messageOf(error)}. Try again.`, error)
    throw error
  }
}

const writeCursor = (at: Date, id: string) => Buffer.from(JSON.stringify([at.toISOString(), id])).toString('base64url')

function readCursor(cursor: string): { at: Date; id: string } {
  try {
    const [at, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as [string, string]
    const date = new Date(at)
    if (!Number.isNaN(date.getTime()) && typeof id === 'string') return { at: date, id }
  } catch {
    // Said below, together with a cursor that is JSON but not ours.
  }
  throw invalid('This cursor is not one that a list has given; leave it out to begin at the newest.')
}
