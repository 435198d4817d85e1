import type { AuditVerdict, AuditView } from '../domain/audit.ts'
import type { Event } from '../domain/event.ts'
import type { LimitView } from '../domain/limit-view.ts'
import type { ModelFiguresQuery, ModelFiguresView } from '../domain/model-figures.ts'
import type { ModelView } from '../domain/model-view.ts'
import type { CostQuery, CostView, PriceListView } from '../domain/money/cost-view.ts'
import type { NotificationFilter, NotificationTest, NotificationView } from '../domain/notification.ts'
import type { CallToExplain, DecisionView, ProfileSummary, ProfileView } from '../domain/profile/view.ts'
import type { AnswerGiven } from '../domain/question/question.ts'
import type { NewFork, NewReplay, RecordingSummary, RecordingView, ReplayReport } from '../domain/recording-view.ts'
import type { NewSchedule, ScheduleChanges, ScheduleSummary, ScheduleView } from '../domain/schedule/schedule.ts'
import type { SecretView } from '../domain/secret.ts'
import type { SkillView, SubagentView } from '../domain/skill.ts'
import type { ProofView, VerifyView } from '../domain/task/check.ts'
import type { TaskState } from '../domain/task/task.ts'
import type { MadeToken, Me, NewToken, NewUser, SignInCode, TokenView, UserChanges, UserView } from '../domain/token.ts'
import type {
  AgentView,
  HaltView,
  HealthView,
  NewTask,
  NewTasks,
  Page,
  QuestionView,
  SessionAdoption,
  SessionStop,
  SessionSummary,
  SessionView,
  TaskEdit,
  TaskRetry,
  TaskSummary,
  TaskView,
} from '../domain/view.ts'
import type { KeptWorkspaceView, QuarantineView } from '../domain/workspace-view.ts'
import { type FollowFeedOptions, type FollowOptions, followEvents, followFeed } from './follow.ts'
import { problemError } from './problem.ts'
import type { Transport, WireAnswer, WireRequest } from './transport.ts'

/** The verbs of a daemon, over HTTP. Each rejects with the `PawlError` the daemon refused with, or `unavailable` if none answers. */
export interface Client {
  /** Safe to send again: a key is made up if none is given. */
  createTask(task: NewTask, options?: { idempotencyKey?: string | undefined }): Promise<{ task: TaskView; created: boolean }>
  /** All of them or none; safe to send again, like `createTask`. */
  createTasks(
    tasks: NewTasks,
    options?: { idempotencyKey?: string | undefined },
  ): Promise<{ tasks: TaskView[]; created: boolean }>
  /** Rejects as `createTask` would; makes nothing. */
  checkTask(task: NewTask): Promise<void>
  getTask(id: string): Promise<TaskView>
  listTasks(filter?: ListTasks): Promise<Page<TaskSummary>>
  cancelTask(id: string, options?: { now?: boolean | undefined }): Promise<TaskView>
  retryTask(id: string, options?: TaskRetry): Promise<TaskView>
  editTask(id: string, edit: TaskEdit): Promise<TaskView>
  /** Deletes an ended task with its subtasks, for good. */
  removeTask(id: string): Promise<{ removed: string[] }>
  /** The work of a task that is in review is good. */
  acceptTask(id: string): Promise<TaskView>
  /** It is to be changed; the agent hears the comment. */
  rejectTask(id: string, options: { comment: string }): Promise<TaskView>
  /** What proved that the work of a task is done. */
  listChecks(task: string): Promise<ProofView>
  /** Walks that chain, and looks whether the workspace is still the one that was looked at. */
  verifyTask(task: string): Promise<VerifyView>
  /** Begins to run the checks of a task once more. */
  recheckTask(task: string): Promise<ProofView>
  listSessions(filter?: ListSessions): Promise<Page<SessionSummary>>
  getSession(id: string): Promise<SessionView>
  /** Makes a session of a conversation that was begun in the agent program itself. */
  adoptSession(adoption: SessionAdoption): Promise<SessionView>
  /** Cancels the task that runs on the session now, if one does. */
  stopSession(id: string, options?: { now?: boolean | undefined }): Promise<SessionStop>
  listQuestions(filter?: { state?: QuestionView['state'] | undefined; task?: string | undefined }): Promise<QuestionView[]>
  getQuestion(id: string): Promise<QuestionView>
  /** In words, or by the numbers of options; with a digest it is for exactly what was shown. */
  answerQuestion(id: string, answer: string | AnswerGiven): Promise<QuestionView>
  readEvents(task: string, options?: { after?: number | undefined; limit?: number | undefined }): Promise<Page<Event>>
  followEvents(task: string, options?: FollowOptions): AsyncIterable<Event>
  /** A page of the events of all tasks, oldest first. */
  readFeed(options?: Pick<FollowFeedOptions, 'after' | 'task' | 'agent' | 'types'> & { limit?: number }): Promise<Page<Event>>
  followFeed(options?: FollowFeedOptions): AsyncIterable<Event>
  /** Lets a parked task go on now. */
  wakeTask(id: string): Promise<TaskView>
  /** Accounts of model providers that are at a limit. */
  listLimits(): Promise<LimitView[]>
  /** Models that the settings list; `check` asks each provider. */
  listModels(options?: { check?: boolean | undefined }): Promise<ModelView[]>
  /** Forgets that the accounts of an agent are at their limit. */
  clearLimits(agent: string): Promise<LimitView[]>
  /** Tasks that come again; each of these takes the id of a schedule or its name. */
  createSchedule(schedule: NewSchedule): Promise<ScheduleView>
  listSchedules(): Promise<ScheduleSummary[]>
  getSchedule(named: string): Promise<ScheduleView>
  changeSchedule(named: string, changes: ScheduleChanges): Promise<ScheduleView>
  pauseSchedule(named: string): Promise<ScheduleView>
  resumeSchedule(named: string): Promise<ScheduleView>
  /** One tick now, out of turn. */
  runSchedule(named: string): Promise<ScheduleView>
  removeSchedule(named: string): Promise<void>
  /** What was spent: today by agent, if nothing else is said. */
  listModelFigures(query?: ModelFiguresQuery): Promise<ModelFiguresView>
  listCosts(query?: CostQuery): Promise<CostView>
  /** What tokens are counted for, and where that comes from. */
  listPrices(): Promise<PriceListView>
  listAgents(): Promise<AgentView[]>
  getAgent(name: string): Promise<AgentView>
  listProfiles(): Promise<ProfileSummary[]>
  getProfile(name: string): Promise<ProfileView>
  /** What would become of a tool call under that profile; nothing is run. */
  explainCall(profile: string, call: CallToExplain): Promise<DecisionView>
  /** Everybody's, and the caller's own. */
  listSkills(): Promise<SkillView[]>
  listSubagents(): Promise<SubagentView[]>
  listQuarantine(): Promise<QuarantineView[]>
  /** Puts what a run planted back into its workspace, all of it or one path. */
  restoreQuarantine(run: string, options?: { path?: string | undefined }): Promise<{ restored: string[] }>
  listWorkspaces(): Promise<KeptWorkspaceView[]>
  removeWorkspace(name: string): Promise<KeptWorkspaceView>
  /** Recorded runs, newest first. */
  listRecordings(): Promise<RecordingSummary[]>
  getRecording(run: string): Promise<RecordingView>
  /** The file, as docs/recordings.md describes it. */
  exportRecording(run: string): Promise<string>
  removeRecording(run: string): Promise<void>
  /** Makes a task that does once more what a recorded run did. */
  replayRun(run: string, how?: NewReplay): Promise<TaskView>
  /** The same up to a call, from which on another model goes on. */
  forkRun(run: string, how: NewFork): Promise<TaskView>
  /** How a replay that has ended compares with the run that it repeats. */
  getReplay(task: string): Promise<ReplayReport>
  listNotifications(filter?: NotificationFilter): Promise<Page<NotificationView>>
  /** Sends what was given up once more: one, all, or all of one target. */
  retryNotifications(which: { id?: string | undefined; target?: string | undefined }): Promise<{ retried: string[] }>
  testNotification(target: string): Promise<NotificationTest>
  health(): Promise<HealthView>
  /** Rejects with `unavailable` and the reason if no work can be taken. */
  ready(): Promise<void>
  shutdown(): Promise<void>
  /** Ends every run of every worker and keeps the queue from starting any more until `resume`. */
  stopAll(options?: { reason?: string | undefined }): Promise<{ halt: HaltView; stopping: string[] }>
  resume(): Promise<{ resumed: boolean }>
  /** As whom this client comes in. */
  me(): Promise<Me>
  listUsers(): Promise<UserView[]>
  createUser(user: NewUser): Promise<UserView>
  setUser(name: string, changes: UserChanges): Promise<UserView>
  removeUser(name: string): Promise<void>
  listTokens(filter?: { user?: string | undefined; all?: boolean | undefined }): Promise<TokenView[]>
  /** The text of the token is in the answer and nowhere else. */
  createToken(token: NewToken): Promise<MadeToken>
  revokeToken(id: string): Promise<TokenView>
  createSignInCode(how?: { opens?: boolean | undefined }): Promise<SignInCode>
  /** Names and scopes; a value that went in never comes out. Scopes are `global`, `agent:NAME` and `user:NAME`. */
  listSecrets(): Promise<SecretView[]>
  getSecret(scope: string, name: string): Promise<SecretView>
  setSecret(scope: string, name: string, value: string): Promise<SecretView>
  removeSecret(scope: string, name: string): Promise<void>
  listAudit(filter?: ListAudit): Promise<Page<AuditView>>
  verifyAudit(options?: { contains?: string | undefined }): Promise<AuditVerdict>
  /** Lets go of idle connections. */
  close(): void
}

export interface ListTasks {
  readonly states?: readonly TaskState[] | undefined
  readonly agent?: string | undefined
  readonly tag?: string | undefined
  readonly text?: string | undefined
  readonly session?: string | undefined
  readonly parent?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export interface ListSessions {
  readonly agent?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export interface ListAudit {
  readonly actor?: string | undefined
  readonly action?: string | undefined
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

  async function ask(method: WireRequest['method'], path: string, extra: Extra): Promise<WireAnswer> {
    const answer = await transport.send({
      method,
      path: `${path}${query(extra.query)}`,
      headers: { Accept: 'application/json', ...self, ...extra.headers },
      body: extra.body === undefined ? undefined : JSON.stringify(extra.body),
      signal,
      repeatable: extra.repeatable ?? true,
    })
    if (answer.status < 200 || answer.status > 299) throw problemError(answer.status, answer.body)
    return answer
  }
  async function call<T>(method: WireRequest['method'], path: string, extra: Extra = {}): Promise<{ status: number; value: T }> {
    const answer = await ask(method, path, extra)
    // What a daemon of the same protocol says is trusted, so that no schema has to be loaded here.
    return { status: answer.status, value: (answer.body === '' ? undefined : JSON.parse(answer.body)) as T }
  }
  const either = (other: AbortSignal | undefined) => (signal && other ? AbortSignal.any([signal, other]) : (signal ?? other))
  const get = async <T>(path: string, asked?: Query) => (await call<T>('GET', path, { query: asked })).value
  const post = async <T>(path: string, body: unknown, repeatable = true) =>
    (await call<T>('POST', path, { body, repeatable })).value
  const text = async (path: string) => (await ask('GET', path, { headers: { Accept: '*/*' } })).body
  const recordingPath = (run: string) => `${api}/recordings/${encodeURIComponent(run)}`
  const questionPath = (id: string) => `${api}/questions/${encodeURIComponent(id)}`
  const taskPath = (id: string) => `${api}/tasks/${encodeURIComponent(id)}`
  const userPath = (name: string) => `${api}/users/${encodeURIComponent(name)}`
  const secretPath = (scope: string, name: string) => `${api}/secrets/${encodeURIComponent(scope)}/${encodeURIComponent(name)}`
  const profilePath = (name: string) => `${api}/profiles/${encodeURIComponent(name)}`
  const schedulePath = (named: string) => `${api}/schedules/${encodeURIComponent(named)}`
  const sessionPath = (id: string) => `${api}/sessions/${encodeURIComponent(id)}`

  return {
    async createTask(task, { idempotencyKey = uniqueKey() } = {}) {
      const headers = { 'Idempotency-Key': idempotencyKey }
      const { status, value } = await call<TaskView>('POST', `${api}/tasks`, { body: task, headers })
      return { task: value, created: status === 201 }
    },
    async createTasks(tasks, { idempotencyKey = uniqueKey() } = {}) {
      const headers = { 'Idempotency-Key': idempotencyKey }
      const { status, value } = await call<{ items: TaskView[] }>('POST', `${api}/tasks/batch`, { body: tasks, headers })
      return { tasks: value.items, created: status === 201 }
    },
    checkTask: async (task) => void (await post(`${api}/tasks/check`, task)),
    getTask: (id) => get(taskPath(id)),
    listTasks: ({ states, ...filter } = {}) => get(`${api}/tasks`, { ...filter, state: states?.join(',') }),
    cancelTask: (id, { now = false } = {}) => post(`${taskPath(id)}/cancel`, { now }),
    retryTask: (id, { fresh = false, budget, timeoutMs } = {}) =>
      post(`${taskPath(id)}/retry`, { fresh, budget, timeoutMs }, false),
    editTask: async (id, { name, priority, tags }) =>
      (await call<TaskView>('PATCH', taskPath(id), { body: { name, priority, tags } })).value,
    removeTask: async (id) => (await call<{ removed: string[] }>('DELETE', taskPath(id), { repeatable: false })).value,
    listChecks: (id) => get(`${taskPath(id)}/checks`),
    verifyTask: (id) => get(`${taskPath(id)}/checks/verdict`),
    recheckTask: (id) => post(`${taskPath(id)}/checks`, {}, false),
    acceptTask: (id) => post(`${taskPath(id)}/accept`, {}, false),
    rejectTask: (id, { comment }) => post(`${taskPath(id)}/reject`, { comment }, false),
    listSessions: (filter = {}) => get(`${api}/sessions`, { ...filter }),
    getSession: (id) => get(sessionPath(id)),
    adoptSession: (adoption) => post(`${api}/sessions/adopt`, adoption, false),
    stopSession: (id, { now = false } = {}) => post(`${sessionPath(id)}/stop`, { now }, false),
    listQuestions: async (filter = {}) => (await get<Page<QuestionView>>(`${api}/questions`, filter)).items,
    getQuestion: (id) => get(questionPath(id)),
    answerQuestion: (id, answer) => post(`${questionPath(id)}/answer`, typeof answer === 'string' ? { answer } : answer),
    readEvents: (task, asked = {}) => get(`${taskPath(task)}/events`, asked),
    followEvents(task, asked = {}) {
      return followEvents(transport, `${taskPath(task)}/events`, { ...asked, signal: either(asked.signal) })
    },
    readFeed: ({ types, ...asked } = {}) => get(`${api}/events`, { ...asked, type: types?.join(',') }),
    followFeed(asked = {}) {
      return followFeed(transport, `${api}/events`, { ...asked, signal: either(asked.signal) })
    },
    wakeTask: (id) => post(`${taskPath(id)}/wake`, {}, false),
    listLimits: async () => (await get<Page<LimitView>>(`${api}/limits`)).items,
    listModels: async ({ check = false } = {}) =>
      (await get<Page<ModelView>>(`${api}/models`, check ? { check: 'true' } : {})).items,
    clearLimits: async (agent) => (await post<Page<LimitView>>(`${api}/limits/clear`, { agent }, false)).items,
    createSchedule: (schedule) => post(`${api}/schedules`, schedule, false),
    listSchedules: async () => (await get<Page<ScheduleSummary>>(`${api}/schedules`)).items,
    getSchedule: (named) => get(schedulePath(named)),
    changeSchedule: async (named, body) => (await call<ScheduleView>('PATCH', schedulePath(named), { body })).value,
    pauseSchedule: (named) => post(`${schedulePath(named)}/pause`, {}),
    resumeSchedule: (named) => post(`${schedulePath(named)}/resume`, {}),
    runSchedule: (named) => post(`${schedulePath(named)}/run`, {}, false),
    removeSchedule: async (named) => void (await call('DELETE', schedulePath(named), { repeatable: false })),
    listAgents: async () => (await get<Page<AgentView>>(`${api}/agents`)).items,
    getAgent: (name) => get(`${api}/agents/${encodeURIComponent(name)}`),
    listModelFigures: (query = {}) => get(`${api}/models/figures`, { ...query }),
    listCosts: (query = {}) => get(`${api}/costs`, { ...query }),
    listPrices: () => get(`${api}/prices`),
    listProfiles: async () => (await get<Page<ProfileSummary>>(`${api}/profiles`)).items,
    getProfile: (name) => get(profilePath(name)),
    explainCall: (profile, asked) => post(`${profilePath(profile)}/explain`, asked),
    listSkills: async () => (await get<Page<SkillView>>(`${api}/skills`)).items,
    listSubagents: async () => (await get<Page<SubagentView>>(`${api}/subagents`)).items,
    listQuarantine: async () => (await get<Page<QuarantineView>>(`${api}/quarantine`)).items,
    restoreQuarantine: (run, { path } = {}) =>
      post(`${api}/quarantine/${encodeURIComponent(run)}/restore`, path === undefined ? {} : { path }, false),
    listWorkspaces: async () => (await get<Page<KeptWorkspaceView>>(`${api}/workspaces`)).items,
    removeWorkspace: async (name) =>
      (await call<KeptWorkspaceView>('DELETE', `${api}/workspaces/${encodeURIComponent(name)}`, { repeatable: false })).value,
    listRecordings: async () => (await get<Page<RecordingSummary>>(`${api}/recordings`)).items,
    getRecording: (run) => get(recordingPath(run)),
    exportRecording: (run) => text(`${recordingPath(run)}/export`),
    removeRecording: async (run) => void (await call('DELETE', recordingPath(run), { repeatable: false })),
    replayRun: (run, how = {}) =>
      post(`${recordingPath(run)}/replay`, { until: how.until, prompt: how.prompt, attended: how.attended }, false),
    forkRun: (run, { at, model, budget, attended }) => post(`${recordingPath(run)}/fork`, { at, model, budget, attended }, false),
    getReplay: (task) => get(`${taskPath(task)}/replay`),
    listNotifications: (filter = {}) => get(`${api}/notifications`, { ...filter }),
    retryNotifications: ({ id, target }) =>
      id === undefined
        ? post(`${api}/notifications/retry`, target === undefined ? {} : { target }, false)
        : post(`${api}/notifications/${encodeURIComponent(id)}/retry`, {}, false),
    testNotification: (target) => post(`${api}/notification-tests`, { target }, false),
    health: () => get(`${api}/health`),
    ready: async () => void (await get('/readyz')),
    shutdown: async () => void (await post(`${api}/shutdown`, {})),
    stopAll: ({ reason } = {}) => post(`${api}/stop-all`, reason === undefined ? {} : { reason }),
    resume: () => post(`${api}/resume`, {}, false),
    me: () => get(`${api}/me`),
    listUsers: async () => (await get<Page<UserView>>(`${api}/users`)).items,
    createUser: (user) => post(`${api}/users`, user, false),
    setUser: async (name, body) => (await call<UserView>('PATCH', userPath(name), { body })).value,
    removeUser: async (name) => void (await call('DELETE', userPath(name), { repeatable: false })),
    listTokens: async ({ user, all } = {}) =>
      (await get<Page<TokenView>>(`${api}/tokens`, { user, all: all ? 'true' : undefined })).items,
    createToken: (token) => post(`${api}/tokens`, token, false),
    revokeToken: async (id) => (await call<TokenView>('DELETE', `${api}/tokens/${encodeURIComponent(id)}`)).value,
    createSignInCode: (how = {}) => post(`${api}/sign-in-codes`, how, false),
    listSecrets: async () => (await get<Page<SecretView>>(`${api}/secrets`)).items,
    getSecret: (scope, name) => get(secretPath(scope, name)),
    setSecret: async (scope, name, value) => (await call<SecretView>('PUT', secretPath(scope, name), { body: { value } })).value,
    removeSecret: async (scope, name) => void (await call('DELETE', secretPath(scope, name), { repeatable: false })),
    listAudit: (filter = {}) => get(`${api}/audit`, { ...filter }),
    verifyAudit: ({ contains } = {}) => get(`${api}/audit/verify`, { contains }),
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
