import { conflict, notFound } from '../src/domain/error.ts'
import type { Event, NewEvent } from '../src/domain/event/event.ts'
import type { Growing } from '../src/domain/event/live-text.ts'
import { newId } from '../src/domain/id.ts'
import type { ScheduleView } from '../src/domain/schedule/schedule.ts'
import type { BackupView } from '../src/domain/view/backup.ts'
import type { AgentView, QuestionView, SessionView, TaskView } from '../src/domain/view/view.ts'
import { profileVerbs } from '../src/operations/profiles.ts'
import type { Runtime } from '../src/operations/runtime.ts'

/** A runtime in memory for tests of surfaces, which only translate: it keeps what it is told and journals what a test says. */
export interface FakeRuntime extends Runtime {
  /** Appends events to a task's journal and wakes its followers with one batch. */
  emit(task: string, ...events: NewEvent[]): Event[]
  /** Tells those who watch what is being said. */
  grow(growing: Growing | undefined): void
  /** Puts a question of a task into the world. */
  ask(task: string, text: string): QuestionView
  /** Every verb that was called, with its arguments. */
  readonly calls: [verb: string, ...args: unknown[]][]
  /** How many followers are attached. */
  readonly followers: () => number
  setState(task: string, state: TaskView['state']): void
  failWith(error: unknown): void
}

export function fakeRuntime(): FakeRuntime {
  const tasks = new Map<string, TaskView>()
  const sessions = new Map<string, SessionView>()
  const questions = new Map<string, QuestionView>()
  const schedules = new Map<string, ScheduleView>()
  const journals = new Map<string, Event[]>()
  const keys = new Map<string, { body: string; id: string }>()
  const wakers = new Set<() => void>()
  const growers = new Set<(growing: Growing | undefined) => void>()
  const calls: FakeRuntime['calls'] = []
  let failure: { error: unknown } | undefined
  let followers = 0
  const profiles = profileVerbs({})
  const at = '2026-01-02T03:04:05.000Z'

  const note = (verb: string, ...args: unknown[]) => {
    calls.push([verb, ...args])
    if (failure) throw failure.error
  }
  const find = (id: string) => {
    const task = tasks.get(id)
    if (!task) throw notFound(`There is no task "${id}".`)
    return task
  }
  const findSession = (id: string) => {
    const session = sessions.get(id)
    if (!session) throw notFound(`There is no session "${id}".`)
    return session
  }
  const findSchedule = (named: string) => {
    const schedule = schedules.get(named)
    if (!schedule) throw notFound(`There is no schedule "${named}".`)
    return schedule
  }
  const newSession = (vendorId: string | null, workspace: string) => {
    const made: SessionView = {
      ...{ id: newId('session', Date.now()), agent: 'demo', adapter: 'demo', workspace, vendorId },
      ...{ taskCount: 0, lastTask: null, archivedBytes: 0, createdAt: at, updatedAt: at, tasks: [] },
      ...{ title: null, openQuestions: 0, costUsd: null, choices: null },
    }
    sessions.set(made.id, made)
    return made
  }
  const moved = (id: string, state: TaskView['state']) => {
    const task = { ...find(id), state }
    tasks.set(id, task)
    return task
  }
  const emit = (task: string, ...events: NewEvent[]) => {
    const journal = journals.get(task) ?? []
    const added = events.map((event, i) => ({ seq: journal.length + i + 1, at, task, ...event }) as Event)
    journals.set(task, [...journal, ...added])
    for (const wake of [...wakers]) wake()
    return added
  }

  return {
    calls,
    emit,
    grow(growing) {
      for (const tell of growers) tell(growing)
    },
    followers: () => followers,
    setState: moved,
    failWith: (error) => {
      failure = { error }
    },
    ask(task, text) {
      const question: QuestionView = {
        ...{ id: newId('question', Date.now()), task, kind: 'free', text, options: [], state: 'pending' },
        ...{ answer: null, askedAt: at, answeredAt: null, answeredBy: null, multiSelect: false, digest: 'sha256:0' },
        ...{ mayAnswer: null, deadline: null, afterDeadline: null, escalatedTo: null },
      }
      questions.set(question.id, question)
      return question
    },
    async checkTask(task, caller) {
      note('checkTask', task, caller)
    },
    async createTask(task, options) {
      note('createTask', task, options)
      const body = JSON.stringify(task)
      const seen = options.idempotencyKey === undefined ? undefined : keys.get(options.idempotencyKey)
      if (seen && seen.body !== body) throw conflict('That idempotency key was used for another task.')
      if (seen) return { task: find(seen.id), created: false }
      const id = newId('task', Date.now())
      const made: TaskView = {
        ...{
          id,
          name: task.name ?? null,
          state: 'queued',
          reason: null,
          resumeAt: null,
          agent: task.agent ?? 'demo',
          session: task.session ?? newSession(null, '/ws').id,
        },
        ...{
          parent: null,
          priority: task.priority ?? 0,
          tags: task.tags ?? [],
          workspace: task.workspace ?? '/ws',
          prompt: task.prompt,
        },
        ...{
          createdAt: at,
          updatedAt: at,
          endedAt: null,
          result: null,
          proof: 'none',
          current: null,
          runs: [],
          questions: [],
          dependsOn: [],
          subtasks: [],
          cost: { usd: null, totalUsd: null, known: 'reported' },
          artifacts: 0,
          activity: null,
        },
        settings: {
          ...{ model: null, profile: 'guarded', budget: {}, timeoutMs: null, extraArgs: [] },
          retry: { attempts: 1, baseDelayMs: 0, maxDelayMs: 0 },
        },
      }
      tasks.set(id, made)
      if (options.idempotencyKey !== undefined) keys.set(options.idempotencyKey, { body, id })
      emit(id, { type: 'task.queued', data: { agent: made.agent, priority: made.priority, workspace: made.workspace } })
      return { task: made, created: true }
    },
    async createTasks(input, options) {
      note('createTasks', input, options)
      const made = []
      for (const task of input.tasks) made.push((await this.createTask(task, { by: options.by })).task)
      return { tasks: made, created: true }
    },
    async listChanges(id) {
      note('listChanges', id)
      find(id)
      return { task: id, files: [], fileCount: 0, added: 0, removed: 0, isComposed: true, runs: [] }
    },
    async readDiff(id, which) {
      note('readDiff', id, which)
      find(id)
      return ''
    },
    async readRunLog(id, run, which) {
      note('readRunLog', id, run, which)
      find(id)
      return { run, stream: which.stream, start: 0, end: 0, size: 0, text: '' }
    },
    async openRunLog(id, run, stream) {
      note('openRunLog', id, run, stream)
      find(id)
      return { size: 0, bytes: async function* () {}, close: async () => undefined }
    },
    async listChecks(id) {
      note('listChecks', id)
      find(id)
      return { task: id, proof: 'none', folder: null, items: [], isChecking: false, trouble: null }
    },
    async readCheckOutput(id, number) {
      note('readCheckOutput', id, number)
      return { number, output: null, leftOut: 0 }
    },
    async verifyTask(id) {
      note('verifyTask', id)
      const chain = { isWhole: true, checks: 0, head: null, firstBad: null }
      const tree = { proved: null, now: null, isSame: null }
      return { ...(await this.listChecks(id)), verified: false, why: 'No check was run.', chain, tree }
    },
    async recheckTask(id, caller) {
      note('recheckTask', id, caller)
      return { ...(await this.listChecks(id)), isChecking: true }
    },
    async editTask(id, edit, caller) {
      note('editTask', id, edit, caller)
      return { ...find(id), ...(edit.priority === undefined ? {} : { priority: edit.priority }) }
    },
    async removeTask(id, caller) {
      note('removeTask', id, caller)
      find(id)
      tasks.delete(id)
      return { removed: [id] }
    },
    async getTask(id) {
      note('getTask', id)
      return find(id)
    },
    async listTasks(filter) {
      note('listTasks', filter)
      const items = [...tasks.values()].filter((task) => !filter.states || filter.states.includes(task.state)).reverse()
      return { items: items.slice(0, filter.limit), next: items.length > filter.limit ? 'more' : null }
    },
    async countTasks(filter) {
      note('countTasks', filter)
      return { working: tasks.size, needs_you: 0, review: 0, waiting: 0, done: 0 }
    },
    async changeTasks(work, caller) {
      note('changeTasks', work, caller)
      return { done: work.tasks, refused: [] }
    },
    async cancelTask(id, options) {
      note('cancelTask', id, options)
      return moved(id, 'cancelled')
    },
    async acceptTask(id, caller) {
      note('acceptTask', id, caller)
      return moved(id, 'completed')
    },
    async rejectTask(id, options) {
      note('rejectTask', id, options)
      return moved(id, 'queued')
    },
    async retryTask(id, options) {
      note('retryTask', id, options)
      return moved(id, 'queued')
    },
    async listSessions(filter) {
      note('listSessions', filter)
      const items = [...sessions.values()].filter(({ agent }) => (filter.agent ?? agent) === agent).reverse()
      return { items: items.slice(0, filter.limit), next: items.length > filter.limit ? 'more' : null }
    },
    async getSession(id) {
      note('getSession', id)
      return findSession(id)
    },
    async createSession(session) {
      note('createSession', session)
      return newSession(null, session.workspace)
    },
    async chooseForSession(id, choice) {
      note('chooseForSession', id, choice)
      return { ...findSession(id), choices: { ...choice, chosenAt: at } }
    },
    async adoptSession(adoption) {
      note('adoptSession', adoption)
      return newSession(adoption.vendorId, adoption.workspace)
    },
    async stopSession(id, options) {
      note('stopSession', id, options)
      findSession(id)
      const running = [...tasks.values()].find((task) => task.session === id && task.state === 'running')
      return { session: id, stopped: running ? moved(running.id, 'cancelled') : null }
    },
    async listQuestions(filter) {
      note('listQuestions', filter)
      return [...questions.values()].filter((q) => (filter.task ?? q.task) === q.task && (filter.state ?? q.state) === q.state)
    },
    async getQuestion(id) {
      note('getQuestion', id)
      const question = questions.get(id)
      if (!question) throw notFound(`There is no question "${id}".`)
      return question
    },
    async answerQuestion(id, given, caller) {
      const answer = typeof given === 'string' ? given : (given.answer ?? '')
      note('answerQuestion', id, answer, caller)
      const question = questions.get(id)
      if (!question) throw notFound(`There is no question "${id}".`)
      if (question.answer !== null && question.answer !== answer) throw conflict('The question has another answer already.')
      const answered: QuestionView = { ...question, state: 'answered', answer, answeredAt: at }
      questions.set(id, answered)
      return answered
    },
    async readEvents(task, { after, limit }) {
      note('readEvents', task, { after, limit })
      find(task)
      return (journals.get(task) ?? []).slice(after, after + limit)
    },
    async readFeed({ limit }) {
      const events = [...journals.values()].flat().slice(0, limit)
      return { events, cursor: 'MToxOg', isLast: true }
    },
    async *followFeed({ signal }) {
      yield { events: [], cursor: 'MToxOg' }
      let seen = [...journals.values()].flat().length
      while (!signal.aborted) {
        const events = [...journals.values()].flat().slice(seen)
        seen += events.length
        if (events.length > 0) yield { events, cursor: 'MToxOg' }
        await new Promise<void>((resolve) => {
          wakers.add(resolve)
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
      }
    },
    async *followEvents(task, { after, signal, onGrowing }) {
      find(task)
      followers++
      if (onGrowing) growers.add(onGrowing)
      try {
        for (let seen = after; !signal.aborted; ) {
          const batch = (journals.get(task) ?? []).slice(seen, seen + 500)
          if (batch.length > 0) {
            seen += batch.length
            yield batch
            continue
          }
          await new Promise<void>((resolve) => {
            const wake = () => {
              wakers.delete(wake)
              signal.removeEventListener('abort', wake)
              resolve()
            }
            wakers.add(wake)
            signal.addEventListener('abort', wake, { once: true })
          })
        }
      } finally {
        if (onGrowing) growers.delete(onGrowing)
        followers--
      }
    },
    async listLimits() {
      note('listLimits')
      return []
    },
    async listMcpServers() {
      note('listMcpServers')
      return []
    },
    async getMcpServer(name) {
      throw notFound(`There is no server of tools "${name}".`)
    },
    async testMcpServer(name) {
      throw notFound(`There is no server of tools "${name}".`)
    },
    async beginMcpSignIn(name) {
      throw notFound(`There is no server of tools "${name}".`)
    },
    async finishMcpSignIn(name) {
      throw notFound(`There is no server of tools "${name}".`)
    },
    async listModels(options) {
      note('listModels', options)
      return []
    },
    async clearLimits(agent, caller) {
      note('clearLimits', agent, caller)
      return []
    },
    async resumeTask(id, caller) {
      note('resumeTask', id, caller)
      return moved(id, 'queued')
    },
    async createSchedule(schedule, caller) {
      note('createSchedule', schedule, caller)
      const made: ScheduleView = {
        ...{ id: newId('schedule', Date.now()), name: schedule.name ?? null, state: 'active', when: schedule.when, says: '' },
        ...{ agent: null, prompt: schedule.task.prompt, session: schedule.session, overlap: schedule.overlap },
        ...{ catchUp: schedule.catchUp, jitterMs: schedule.jitterMs, nextAt: at, lastTick: null, user: 'local', source: null },
        ...{ health: { healthy: true, failedInARow: 0, detail: null }, createdAt: at, updatedAt: at },
        ...{ workspace: null, model: null, profile: null, sessionId: null, next: [], ticks: [] },
      }
      schedules.set(made.name ?? made.id, made)
      return made
    },
    async listSchedules() {
      note('listSchedules')
      return [...schedules.values()]
    },
    async getSchedule(named) {
      note('getSchedule', named)
      return findSchedule(named)
    },
    async changeSchedule(named, changes, caller) {
      note('changeSchedule', named, changes, caller)
      return findSchedule(named)
    },
    async pauseSchedule(named, caller) {
      note('pauseSchedule', named, caller)
      return { ...findSchedule(named), state: 'paused' }
    },
    async resumeSchedule(named, caller) {
      note('resumeSchedule', named, caller)
      return findSchedule(named)
    },
    async runSchedule(named, caller) {
      note('runSchedule', named, caller)
      return findSchedule(named)
    },
    async removeSchedule(named, caller) {
      note('removeSchedule', named, caller)
      findSchedule(named)
      schedules.delete(named)
    },
    async listPrices() {
      note('listPrices')
      return { asOf: null, sources: [], items: [] }
    },
    async listModelFigures(query) {
      note('listModelFigures', query)
      return { since: query.since ?? '2026-01-01T00:00:00.000Z', until: query.until ?? null, items: [] }
    },
    async listCosts(query) {
      note('listCosts', query)
      const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
      const total = { usd: null, countedUsd: 0, known: 'reported' as const, tokens, turns: 0 }
      const caps = { dayUsd: null, monthUsd: null, userDayUsd: null }
      return {
        since: query.since ?? at,
        until: query.until ?? null,
        timeZone: 'UTC',
        by: query.by ?? 'agent',
        total,
        items: [],
        unpriced: [],
        caps,
      }
    },
    async listProfiles() {
      note('listProfiles')
      return profiles.listProfiles()
    },
    async getProfile(name) {
      note('getProfile', name)
      return profiles.getProfile(name)
    },
    async explainCall(name, call) {
      note('explainCall', name, call)
      return profiles.explainCall(name, call)
    },
    async listSkills(caller) {
      note('listSkills', caller)
      return [{ name: 'review', scope: 'global', kind: 'instructions', description: 'Looks at changes.', problem: null }]
    },
    async listSubagents(caller) {
      note('listSubagents', caller)
      return [{ name: 'reviewer', scope: 'user', description: '', problem: 'has no description' }]
    },
    async listQuarantine() {
      note('listQuarantine')
      return []
    },
    async restoreQuarantine(run, options) {
      note('restoreQuarantine', run, options)
      return { restored: options.path === undefined ? [] : [options.path] }
    },
    async listNotifications(filter) {
      note('listNotifications', filter)
      return { items: [], next: null }
    },
    async retryNotifications(which, caller) {
      note('retryNotifications', which, caller)
      return { retried: which.id === undefined ? [] : [which.id] }
    },
    async testNotification(target, caller) {
      note('testNotification', target, caller)
      return { target, delivered: true, detail: 'It was delivered.', ms: 1 }
    },
    async getPush(caller) {
      note('getPush', caller)
      return { publicKey: 'BA', events: [], items: [] }
    },
    async subscribePush(push, caller) {
      note('subscribePush', push, caller)
      throw notFound('There are no browsers here.')
    },
    async removePush(id, caller) {
      note('removePush', id, caller)
    },
    async testPush(id, caller) {
      note('testPush', id, caller)
      return { target: `browser ${id}`, delivered: true, detail: 'It was delivered.', ms: 1 }
    },
    async listTemplates() {
      note('listTemplates')
      return []
    },
    async listFolders(path, caller) {
      note('listFolders', path, caller)
      return { path: path ?? null, parent: null, recent: [], items: [], isCut: false }
    },
    async readTasks(file, caller) {
      note('readTasks', file, caller)
      return { tasks: [{ prompt: file.text.trim() || 'nothing was written' }], schedules: [null] }
    },
    async previewSchedule(written) {
      note('previewSchedule', written)
      return { when: { kind: 'initial' }, says: written.when, next: [] }
    },
    async elaborateTask(asked, caller) {
      note('elaborateTask', asked, caller)
      return (await this.createTask({ prompt: asked.text, tags: ['elaborate'] }, caller)).task
    },
    async getProposal(id) {
      note('getProposal', id)
      return { prompt: find(id).prompt }
    },
    async listWorkspaces() {
      note('listWorkspaces')
      return []
    },
    async removeWorkspace(name, caller) {
      note('removeWorkspace', name, caller)
      return { name, task: name, kind: 'kept', path: `/${name}`, bytes: 0, removable: true }
    },
    async addUpload({ name, content }, caller) {
      const pieces: Uint8Array[] = []
      for await (const piece of content) pieces.push(piece)
      const bytes = Buffer.concat(pieces)
      note('addUpload', name, bytes.toString(), caller)
      return {
        ...{ id: newId('upload', Date.now()), name, type: 'text/plain', size: bytes.length, sha256: 'a'.repeat(64) },
        ...{ createdAt: at, expiresAt: at },
      }
    },
    async getUpload(id, caller) {
      note('getUpload', id, caller)
      throw notFound(`There is no file ${id}.`)
    },
    async listArtifacts(task) {
      note('listArtifacts', task)
      find(task)
      return []
    },
    async readArtifact(task, artifact) {
      note('readArtifact', task, artifact)
      throw notFound(`Task ${task} has left no file ${artifact}.`)
    },
    async *exportTasks(options) {
      note('exportTasks', options)
      yield '{"kind":"pawl-export","version":1}'
    },
    async importTasks(_, caller) {
      note('importTasks', caller)
      return { imported: [], skipped: [], cut: null, isWhole: true }
    },
    async createBackup(how, caller) {
      note('createBackup', how, caller)
      return backup
    },
    async listBackups() {
      note('listBackups')
      return [backup]
    },
    async backupUnderWay() {
      return null
    },
    async findBackup(name, caller) {
      note('findBackup', name, caller)
      throw notFound(`There is no backup "${name}".`)
    },
    async listRecordings() {
      note('listRecordings')
      return []
    },
    async getRecording(run) {
      note('getRecording', run)
      throw notFound(`Run ${run} was not recorded.`)
    },
    async exportRecording(run, caller) {
      note('exportRecording', run, caller)
      return '{}\n'
    },
    async removeRecording(run, caller) {
      note('removeRecording', run, caller)
    },
    async replayRun(run, how, caller) {
      note('replayRun', run, how, caller)
      throw notFound(`Run ${run} was not recorded.`)
    },
    async forkRun(run, how, caller) {
      note('forkRun', run, how, caller)
      throw notFound(`Run ${run} was not recorded.`)
    },
    async getReplay(task) {
      note('getReplay', task)
      throw notFound(`Task ${task} is no replay.`)
    },
    async getAgent(name) {
      note('getAgent', name)
      if (name !== demoAgent.name) throw notFound(`There is no agent "${name}".`)
      return demoAgent
    },
    async listAgents() {
      note('listAgents')
      return [demoAgent]
    },
    async health() {
      note('health')
      return {
        ...{
          version: '0.0.0',
          home: '/home',
          pid: 1,
          startedAt: at,
          database: { kind: 'embedded', version: '18' },
          tasks: {},
          notifications: { waiting: 0, dead: 0 },
          warm: [],
          halt: null,
          agents: [],
          stuck: [],
          schedules: { active: 0, paused: 0, unhealthy: [], refused: [] },
        },
        walls: { name: 'bubblewrap', enforced: true, detail: 'ok', fix: null, selfTests: [] },
      }
    },
    async getSettings() {
      note('getSettings')
      return {
        ...{ file: '/home/config.yaml', hash: null, projectFile: null, settings: [], waiting: [] },
        ...{ problem: null, canUndo: false, untrusted: [], notes: [] },
      }
    },
    async changeSettings(change, caller) {
      note('changeSettings', change, caller)
      return { changed: [], overruled: [], file: '/home/config.yaml', hash: null, restart: false }
    },
    async undoSettings(caller) {
      note('undoSettings', caller)
      return { changed: [], overruled: [], file: '/home/config.yaml', hash: null, restart: false }
    },
    async inspect(options) {
      note('inspect', options)
      return { startedAt: at, isRunning: false, home: '/home', sizeBytes: 0, rows: [] }
    },
    async ready() {
      note('ready')
    },
    async stopAll(options) {
      note('stopAll', options)
      return { halt: { at, by: options.by, reason: options.reason ?? null }, stopping: [] }
    },
    async resume(caller) {
      note('resume', caller)
      return { resumed: true }
    },
  }
}

const backup: BackupView = {
  ...{ name: 'a.pawl', id: '0'.repeat(32), takenAt: '2026-01-02T03:04:05.000Z', pawl: '0.0.0', schema: 1, tables: 1, rows: 2 },
  ...{ files: 0, contentBytes: 10, bytes: 20, withKeys: false, withWorkspaces: false, withLogs: false },
}

const demoAgent: AgentView = {
  name: 'demo',
  title: 'Demo',
  isOurs: true,
  adapter: 'demo',
  model: null,
  profile: 'guarded',
  source: 'built in',
  isDefault: true,
  can: ['ask'],
  tried: null,
  install: null,
  health: { installed: true, healthy: true, version: '1', loggedIn: null, detail: 'ok', fix: null, warning: null },
  login: null,
  hosts: [],
  obeys: [],
  tools: [],
  sessionFiles: [],
}
