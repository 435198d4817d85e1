import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ListTasks } from '../../../src/client/client.ts'
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
  limits: queryOptions({ queryKey: ['tasks', 'limits'], queryFn: () => pawl.listLimits() }),
  schedules: queryOptions({ queryKey: ['tasks', 'schedules'], queryFn: () => pawl.listSchedules() }),
} as const
