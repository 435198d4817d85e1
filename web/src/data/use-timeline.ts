import { useEffect, useState } from 'react'
import { pause } from '../../../src/client/transport/follow.ts'
import { messageOf, PawlError } from '../../../src/domain/error.ts'
import type { Event } from '../../../src/domain/event/event.ts'
import { tellGrowing } from './partial.ts'
import { pawl } from './pawl.ts'
import { whileSeen } from './seen.ts'
import { Timeline } from './timeline.ts'

export interface Followed extends Pick<Timeline, 'items' | 'todos' | 'models' | 'count' | 'lastAt'> {
  /** Everything that is there has been read; what comes now is new. */
  readonly isCaughtUp: boolean
  readonly isAway: boolean
  readonly failure?: string | undefined
}

const pageSize = 1000
const nothing: Followed = {
  items: [],
  todos: [],
  models: new Map(),
  count: 0,
  lastAt: undefined,
  isCaughtUp: false,
  isAway: false,
}

/** The events of a task: first what there is, page by page, then what comes, without a gap. The page is not kept busy by either. */
export function useTimeline(task: string): Followed {
  const [followed, setFollowed] = useState<Followed>(nothing)
  useEffect(() => {
    const ended = new AbortController()
    const timeline = new Timeline()
    let waiting: Event[] = []
    let frame = 0
    const change = (fields: Partial<Followed>) => {
      if (!ended.signal.aborted) setFollowed((before) => ({ ...before, ...fields }))
    }
    const told = () => {
      const { items, todos, models, count, lastAt } = timeline
      return { items, todos, models, count, lastAt }
    }
    const show = () => {
      frame = 0
      timeline.add(waiting)
      waiting = []
      change(told())
    }
    setFollowed(nothing)
    const onGrowing = tellGrowing(task)
    const follow = async (signal: AbortSignal) => {
      // What came before the connection was lost belongs before what is read now.
      if (frame !== 0) {
        cancelAnimationFrame(frame)
        show()
      }
      for (;;) {
        const { items, next } = await pawl.readEvents(task, { after: timeline.lastSeq, limit: pageSize })
        if (signal.aborted) return
        timeline.add(items)
        change({ ...told(), isAway: false })
        if (next === null) break
      }
      change({ isCaughtUp: true })
      const onState = (state: 'live' | 'away') => change({ isAway: state === 'away' })
      // Whoever sees the page can answer on it: a run may wait a moment for that.
      const how = { after: timeline.lastSeq, attends: true, patienceMs: Number.POSITIVE_INFINITY }
      for await (const event of pawl.followEvents(task, { ...how, signal, onState, onGrowing })) {
        waiting.push(event)
        frame ||= requestAnimationFrame(show)
      }
    }
    const goOn = async (signal: AbortSignal) => {
      while (!signal.aborted) {
        try {
          await follow(signal)
        } catch (error) {
          // A daemon that is starting again comes back; a refusal stays one.
          if (!(error instanceof PawlError && error.code === 'unavailable')) throw error
          if (!signal.aborted) change({ isAway: true })
        }
        await pause(2_000, signal)
      }
    }
    whileSeen(ended.signal, goOn).catch((error: unknown) => change({ failure: messageOf(error) }))
    return () => {
      ended.abort()
      onGrowing(undefined)
      cancelAnimationFrame(frame)
    }
  }, [task])
  return followed
}
