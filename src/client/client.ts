import type { Event } from '../domain/event.ts'
import type { TaskState } from '../domain/task.ts'
import type {
  AgentView,
  HealthView,
  NewTask,
  Page,
  QuestionView,
  SessionAdoption,
  SessionStop,
  SessionSummary,
  SessionView,
  TaskSummary,
  TaskView,
} from '../domain/view.ts'
import { type FollowOptions, followEvents } from './follow.ts'
import { problemError } from './problem.ts'
import type { Transport } from './transport.ts'

/** The verbs of a daemon, over HTTP. Each rejects with the `PawlError` the daemon refused with, or `unavailable` if none answers. */
export interface Client {
  /** Safe to send again: a key is made up if none is given. */
  createTask(task: NewTask, options?: { idempotencyKey?: string | undefined }): Promise<{ task: TaskView; created: boolean }>
  getTask(id: string): Promise<TaskView>
  listTasks(filter?: ListTasks): Promise<Page<TaskSummary>>
  cancelTask(id: string, options?: { now?: boolean | undefined }): Promise<TaskView>
  retryTask(id: string, options?: { fresh?: boolean | undefined }): Promise<TaskView>
  listSessions(filter?: ListSessions): Promise<Page<SessionSummary>>
  getSession(id: string): Promise<SessionView>
  /** Makes a session of a conversation that was begun in the agent program itself. */
  adoptSession(adoption: SessionAdoption): Promise<SessionView>
  /** Cancels the task that runs on the session now, if one does. */
  stopSession(id: string, options?: { now?: boolean | undefined }): Promise<SessionStop>
  listQuestions(filter?: { state?: QuestionView['state'] | undefined; task?: string | undefined }): Promise<QuestionView[]>
  answerQuestion(id: string, answer: string): Promise<QuestionView>
  readEvents(task: string, options?: { after?: number | undefined; limit?: number | undefined }): Promise<Page<Event>>
  followEvents(task: string, options?: FollowOptions): AsyncIterable<Event>
  listAgents(): Promise<AgentView[]>
  health(): Promise<HealthView>
  /** Rejects with `unavailable` and the reason if no work can be taken. */
  ready(): Promise<void>
  shutdown(): Promise<void>
  /** Lets go of idle connections. */
  close(): void
}

export interface ListTasks {
  readonly states?: readonly TaskState[] | undefined
  readonly agent?: string | undefined
  readonly tag?: string | undefined
  readonly text?: string | undefined
  readonly session?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export interface ListSessions {
  readonly agent?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export interface ClientOptions {
  readonly signal?: AbortSignal | undefined
  /** At most 32 lower-case letters, digits and dashes; the daemon ignores any other. */
  readonly name?: string | undefined
}

const api = '/api/v1'

export function createClientOver(transport: Transport, options: ClientOptions = {}): Client {
  const { signal } = options
  const self: Record<string, string> = options.name === undefined ? {} : { 'X-Pawl-Client': options.name }

  async function call<T>(method: 'GET' | 'POST', path: string, extra: Extra = {}): Promise<{ status: number; value: T }> {
    const answer = await transport.send({
      method,
      path: `${path}${query(extra.query)}`,
      headers: { Accept: 'application/json', ...self, ...extra.headers },
      body: extra.body === undefined ? undefined : JSON.stringify(extra.body),
      signal,
      repeatable: extra.repeatable ?? true,
    })
    if (answer.status < 200 || answer.status > 299) throw problemError(answer.status, answer.body)
    // What a daemon of the same protocol says is trusted, so that no schema has to be loaded here.
    return { status: answer.status, value: JSON.parse(answer.body) as T }
  }
  const get = async <T>(path: string, asked?: Query) => (await call<T>('GET', path, { query: asked })).value
  const post = async <T>(path: string, body: unknown, repeatable = true) =>
    (await call<T>('POST', path, { body, repeatable })).value
  const taskPath = (id: string) => `${api}/tasks/${encodeURIComponent(id)}`
  const sessionPath = (id: string) => `${api}/sessions/${encodeURIComponent(id)}`

  return {
    async createTask(task, { idempotencyKey = uniqueKey() } = {}) {
      const headers = { 'Idempotency-Key': idempotencyKey }
      const { status, value } = await call<TaskView>('POST', `${api}/tasks`, { body: task, headers })
      return { task: value, created: status === 201 }
    },
    getTask: (id) => get(taskPath(id)),
    listTasks: ({ states, ...filter } = {}) => get(`${api}/tasks`, { ...filter, state: states?.join(',') }),
    cancelTask: (id, { now = false } = {}) => post(`${taskPath(id)}/cancel`, { now }),
    retryTask: (id, { fresh = false } = {}) => post(`${taskPath(id)}/retry`, { fresh }, false),
    listSessions: (filter = {}) => get(`${api}/sessions`, { ...filter }),
    getSession: (id) => get(sessionPath(id)),
    adoptSession: (adoption) => post(`${api}/sessions/adopt`, adoption, false),
    stopSession: (id, { now = false } = {}) => post(`${sessionPath(id)}/stop`, { now }, false),
    listQuestions: async (filter = {}) => (await get<Page<QuestionView>>(`${api}/questions`, filter)).items,
    answerQuestion: (id, answer) => post(`${api}/questions/${encodeURIComponent(id)}/answer`, { answer }),
    readEvents: (task, asked = {}) => get(`${taskPath(task)}/events`, asked),
    followEvents(task, asked = {}) {
      const signals = [signal, asked.signal].filter((one) => one !== undefined)
      const either = signals.length > 1 ? AbortSignal.any(signals) : signals[0]
      return followEvents(transport, `${taskPath(task)}/events`, { ...asked, signal: either })
    },
    listAgents: async () => (await get<Page<AgentView>>(`${api}/agents`)).items,
    health: () => get(`${api}/health`),
    ready: async () => void (await get('/readyz')),
    shutdown: async () => void (await post(`${api}/shutdown`, {})),
    close: () => transport.close(),
  }
}

type Query = Readonly<Record<string, string | number | undefined>>

interface Extra {
  readonly query?: Query | undefined
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly repeatable?: boolean
}

function query(asked: Query = {}): string {
  const given = new URLSearchParams()
  for (const [key, value] of Object.entries(asked)) if (value !== undefined) given.set(key, String(value))
  return given.size === 0 ? '' : `?${given}`
}

/** Unique is enough, it need not be secret: what makes secrets takes longer to load than the rest of this client. */
const uniqueKey = () => `${Date.now().toString(36)}-${[1, 2, 3].map(() => Math.random().toString(36).slice(2)).join('')}`
