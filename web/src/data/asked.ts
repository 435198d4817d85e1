import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ListTasks } from '../../../src/client/client.ts'
import type { CostQuery } from '../../../src/domain/money/cost-view.ts'
import { pawl } from './pawl.ts'

/** Everything the screens ask for, each by its name. What begins with `tasks` changes with every event of a task. */
export const asked = {
  me: queryOptions({ queryKey: ['me'], queryFn: () => pawl.me(), staleTime: Number.POSITIVE_INFINITY }),
  health: queryOptions({ queryKey: ['tasks', 'health'], queryFn: () => pawl.health() }),
  questions: queryOptions({ queryKey: ['tasks', 'questions'], queryFn: () => pawl.listQuestions({ state: 'pending' }) }),
  tasks: (filter: ListTasks) =>
    queryOptions({
      queryKey: ['tasks', 'list', filter],
      queryFn: () => pawl.listTasks(filter),
      placeholderData: keepPreviousData,
    }),
  task: (id: string) => queryOptions({ queryKey: ['tasks', 'one', id], queryFn: () => pawl.getTask(id) }),
  checks: (id: string) => queryOptions({ queryKey: ['tasks', 'checks', id], queryFn: () => pawl.listChecks(id) }),
  costsToday: queryOptions({ queryKey: ['tasks', 'costs', 'today'], queryFn: () => pawl.listCosts() }),
  agents: queryOptions({ queryKey: ['agents'], queryFn: () => pawl.listAgents() }),
  profiles: queryOptions({ queryKey: ['profiles'], queryFn: () => pawl.listProfiles() }),
  profile: (name: string) => queryOptions({ queryKey: ['profiles', name], queryFn: () => pawl.getProfile(name) }),
  secrets: queryOptions({ queryKey: ['secrets'], queryFn: () => pawl.listSecrets() }),
  tokens: queryOptions({ queryKey: ['tokens'], queryFn: () => pawl.listTokens() }),
  audit: queryOptions({ queryKey: ['audit'], queryFn: () => pawl.listAudit({ limit: 50 }) }),
  limits: queryOptions({ queryKey: ['tasks', 'limits'], queryFn: () => pawl.listLimits() }),
  schedules: queryOptions({ queryKey: ['tasks', 'schedules'], queryFn: () => pawl.listSchedules() }),
  schedule: (named: string) => queryOptions({ queryKey: ['tasks', 'schedules', named], queryFn: () => pawl.getSchedule(named) }),
  costs: (query: CostQuery) =>
    queryOptions({
      queryKey: ['tasks', 'costs', query],
      queryFn: () => pawl.listCosts(query),
      placeholderData: keepPreviousData,
    }),
} as const
