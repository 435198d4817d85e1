import { type InfiniteData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { ListTasks } from '../../../src/client/client.ts'
import { columnOf } from '../../../src/domain/task/column.ts'
import type { Page, TaskSummary } from '../../../src/domain/view/view.ts'
import { pawl } from './pawl.ts'

export type TaskQuery = Omit<ListTasks, 'limit' | 'cursor' | 'updatedSince' | 'endedSince'>
type Pages = InfiniteData<Page<TaskSummary>, string | undefined>

const pageSize = 200

/** A list of tasks that may be thousands long: page by page as it is scrolled, and of what changes only that is asked for anew. */
export function useTaskPages(query: TaskQuery) {
  const client = useQueryClient()
  // Not among what every event refreshes: all pages would be asked for again.
  const key = ['listed', query]
  const pages = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => pawl.listTasks({ ...query, limit: pageSize, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
  })
  useQuery({
    queryKey: ['tasks', 'changed', query],
    enabled: pages.isSuccess && !pages.isPlaceholderData,
    queryFn: async () => {
      const known = client.getQueryData<Pages>(key)
      if (!known) return null
      const since = newestChange(known)
      const { items, next } = await pawl.listTasks({ text: query.text, sort: 'updated', updatedSince: since, limit: pageSize })
      // More than can be put in place one by one.
      if (next !== null) await client.invalidateQueries({ queryKey: key })
      else client.setQueryData<Pages>(key, (now) => now && merged(now, items, query))
      return null
    },
  })
  const tasks = useMemo(() => pages.data?.pages.flatMap(({ items }) => items) ?? [], [pages.data])
  return { pages, tasks }
}

function newestChange({ pages }: Pages): string | undefined {
  let newest: string | undefined
  for (const { items } of pages) for (const { updatedAt } of items) if (!newest || updatedAt > newest) newest = updatedAt
  return newest
}

/** What changed in its place, what fits no longer left out, what is new on top. */
export function merged(before: Pages, changed: readonly TaskSummary[], query: TaskQuery): Pages {
  const changes = new Map(changed.map((task) => [task.id, task]))
  const seen = new Set<string>()
  const pages = before.pages.map((page) => ({
    ...page,
    items: page.items.flatMap((task) => {
      seen.add(task.id)
      const now = changes.get(task.id) ?? task
      return fits(now, query) ? [now] : []
    }),
  }))
  const oldest = before.pages.at(-1)?.next ? before.pages.at(-1)?.items.at(-1) : undefined
  const placeOf = (task: TaskSummary) => (query.sort === 'ended' ? (task.endedAt ?? '') : task.createdAt)
  const fresh = changed.filter((task) => !seen.has(task.id) && fits(task, query) && (!oldest || placeOf(task) > placeOf(oldest)))
  const [first] = pages
  if (first && fresh.length > 0)
    pages[0] = { ...first, items: [...fresh, ...first.items].sort((one, other) => placeOf(other).localeCompare(placeOf(one))) }
  return { ...before, pages }
}

/** What the daemon would say, but for words, which it has looked for already. */
const fits = (task: TaskSummary, { states, columns, agent, tag, session, parent, sort }: TaskQuery) =>
  (!states || states.includes(task.state)) &&
  (!columns || columns.includes(columnOf(task))) &&
  (agent === undefined || task.agent === agent) &&
  (tag === undefined || task.tags.includes(tag)) &&
  (session === undefined || task.session === session) &&
  (parent === undefined || task.parent === parent) &&
  (sort !== 'ended' || task.endedAt !== null)
