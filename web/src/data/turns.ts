import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo, useRef, useState } from 'react'
import type { SessionView, TaskSummary } from '../../../src/domain/view/view.ts'
import { pawl } from './pawl.ts'

const fewTurns = 20
const pageSize = 100

/** The turns of a conversation, oldest first: the newest come with the session, and earlier ones as far back as somebody asks. */
export function useTurns(session: SessionView) {
  const [shown, setShown] = useState(fewTurns)
  const [wantsPast, setWantsPast] = useState(false)
  const past = useInfiniteQuery({
    // Not among what every event refreshes: all pages would be asked for again.
    queryKey: ['turns', session.id],
    queryFn: ({ pageParam }) => pawl.listTasks({ session: session.id, limit: pageSize, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    enabled: wantsPast,
    staleTime: Number.POSITIVE_INFINITY,
  })
  // What new messages push out of the newest is still there.
  const known = useRef(new Map<string, TaskSummary>())
  const all = useMemo(() => {
    const told = [...(past.data?.pages.flatMap(({ items }) => items) ?? []), ...session.tasks]
    for (const task of told) {
      const before = known.current.get(task.id)
      if (!before || before.updatedAt <= task.updatedAt) known.current.set(task.id, task)
    }
    const newest = new Set(session.tasks.map(({ id }) => id))
    const since = session.tasks.at(-1)?.createdAt ?? ''
    // What is deleted is not among the newest any more, though it would belong there.
    for (const { id, createdAt } of known.current.values()) if (createdAt > since && !newest.has(id)) known.current.delete(id)
    return [...known.current.values()].sort(byTime)
  }, [past.data, session.tasks])
  const isRead = past.data !== undefined && !past.hasNextPage
  return {
    turns: all.slice(-shown),
    hasMore: shown < all.length || (session.taskCount > all.length && !isRead),
    isFetching: past.isFetching,
    error: past.error,
    more() {
      setShown(Math.min(shown, all.length) + fewTurns)
      if (shown + fewTurns < all.length || isRead || past.isFetching || session.taskCount <= all.length) return
      if (wantsPast) void (past.data ? past.fetchNextPage() : past.refetch())
      setWantsPast(true)
    },
  }
}

const byTime = (one: TaskSummary, other: TaskSummary) =>
  one.createdAt.localeCompare(other.createdAt) || one.id.localeCompare(other.id)
