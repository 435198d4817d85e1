import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ListSessions, ListTasks, NarrowTasks } from '../../../src/client/client.ts'
import type { CostQuery } from '../../../src/domain/money/cost-view.ts'
import { pawl } from './pawl.ts'

/** Everything the screens ask for, each by its name. What begins with `tasks` changes with every event of a task. */
export const asked = {
  me: queryOptions({ queryKey: ['me'], queryFn: () => pawl.me(), staleTime: Number.POSITIVE_INFINITY }),
  health: queryOptions({ queryKey: ['tasks', 'health'], queryFn: () => pawl.health() }),
  questions: queryOptions({ queryKey: ['tasks', 'questions'], queryFn: () => pawl.listQuestions({ state: 'pending' }) }),
  questionsSince: (since: string) =>
    queryOptions({ queryKey: ['tasks', 'questions', since], queryFn: () => pawl.listQuestions({ since }) }),
  push: queryOptions({ queryKey: ['push'], queryFn: () => pawl.getPush() }),
  templates: queryOptions({ queryKey: ['templates'], queryFn: () => pawl.listTemplates() }),
  folders: (path?: string) =>
    queryOptions({
      queryKey: ['folders', path ?? null],
      queryFn: () => pawl.listFolders(path),
      placeholderData: keepPreviousData,
    }),
  tasks: (filter: ListTasks) =>
    queryOptions({
      queryKey: ['tasks', 'list', filter],
      queryFn: () => pawl.listTasks(filter),
      placeholderData: keepPreviousData,
    }),
  board: (filter: NarrowTasks) =>
    queryOptions({
      queryKey: ['tasks', 'board', filter],
      queryFn: () => pawl.countTasks(filter),
      placeholderData: keepPreviousData,
    }),
  task: (id: string) => queryOptions({ queryKey: ['tasks', 'one', id], queryFn: () => pawl.getTask(id) }),
  artifacts: (id: string) => queryOptions({ queryKey: ['tasks', 'artifacts', id], queryFn: () => pawl.listArtifacts(id) }),
  checks: (id: string) => queryOptions({ queryKey: ['tasks', 'checks', id], queryFn: () => pawl.listChecks(id) }),
  checkOutput: (id: string, number: number) =>
    queryOptions({ queryKey: ['check-output', id, number], queryFn: () => pawl.readCheckOutput(id, number) }),
  recordings: queryOptions({ queryKey: ['tasks', 'recordings'], queryFn: () => pawl.listRecordings() }),
  card: (agent: string) => queryOptions({ queryKey: ['card', agent], queryFn: () => pawl.getCard(agent), retry: false }),
  models: queryOptions({ queryKey: ['models'], queryFn: () => pawl.listModels() }),
  changes: (task: string) => queryOptions({ queryKey: ['tasks', 'changes', task], queryFn: () => pawl.listChanges(task) }),
  // What a run has changed does not change any more.
  diff: (task: string, run: string, path: string) =>
    queryOptions({
      queryKey: ['diff', task, run, path],
      queryFn: () => pawl.readDiff(task, { run, path }),
      staleTime: Number.POSITIVE_INFINITY,
    }),
  runLog: (task: string, run: string, stream: 'stdout' | 'stderr', length: number) =>
    queryOptions({
      queryKey: ['tasks', 'run-log', task, run, stream, length],
      queryFn: () => pawl.readRunLog(task, run, { stream, length }),
    }),
  costsToday: queryOptions({ queryKey: ['tasks', 'costs', 'today'], queryFn: () => pawl.listCosts() }),
  agents: queryOptions({ queryKey: ['agents'], queryFn: () => pawl.listAgents() }),
  mcpServers: queryOptions({ queryKey: ['mcp-servers'], queryFn: () => pawl.listMcpServers() }),
  profiles: queryOptions({ queryKey: ['profiles'], queryFn: () => pawl.listProfiles() }),
  profile: (name: string) => queryOptions({ queryKey: ['profiles', name], queryFn: () => pawl.getProfile(name) }),
  secrets: queryOptions({ queryKey: ['secrets'], queryFn: () => pawl.listSecrets() }),
  tokens: queryOptions({ queryKey: ['tokens'], queryFn: () => pawl.listTokens() }),
  backups: queryOptions({ queryKey: ['backups'], queryFn: () => pawl.listBackups() }),
  backupUnderWay: queryOptions({ queryKey: ['backup under way'], queryFn: () => pawl.backupUnderWay() }),
  audit: queryOptions({ queryKey: ['audit'], queryFn: () => pawl.listAudit({ limit: 50 }) }),
  sessions: (filter: ListSessions) =>
    queryOptions({
      queryKey: ['tasks', 'sessions', filter],
      queryFn: () => pawl.listSessions(filter),
      placeholderData: keepPreviousData,
    }),
  session: (id: string) => queryOptions({ queryKey: ['tasks', 'sessions', id], queryFn: () => pawl.getSession(id) }),
  /** What happened to a task that has ended, or as much of it as anybody reads. */
  events: (id: string) => queryOptions({ queryKey: ['events', id], queryFn: () => pawl.readEvents(id, { limit: 1000 }) }),
  limits: queryOptions({ queryKey: ['tasks', 'limits'], queryFn: () => pawl.listLimits() }),
  schedules: queryOptions({ queryKey: ['tasks', 'schedules'], queryFn: () => pawl.listSchedules() }),
  schedule: (named: string) => queryOptions({ queryKey: ['tasks', 'schedules', named], queryFn: () => pawl.getSchedule(named) }),
  settings: queryOptions({ queryKey: ['settings'], queryFn: () => pawl.getSettings() }),
  doctor: queryOptions({
    queryKey: ['doctor'],
    queryFn: () => pawl.inspect(),
    // It tells of each thing as it is found.
    refetchInterval: ({ state }) => (state.data?.isRunning ? 500 : false),
  }),
  users: queryOptions({ queryKey: ['users'], queryFn: () => pawl.listUsers() }),
  costs: (query: CostQuery) =>
    queryOptions({
      queryKey: ['tasks', 'costs', query],
      queryFn: () => pawl.listCosts(query),
      placeholderData: keepPreviousData,
    }),
} as const
