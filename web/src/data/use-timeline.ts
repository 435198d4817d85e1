import { useEffect, useState } from 'react'
import { pause } from '../../../src/client/follow.ts'
import { messageOf, PawlError } from '../../../src/domain/error.ts'
import type { Event } from '../../../src/domain/event.ts'
import { pawl } from './pawl.ts'
import { whileSeen } from './seen.ts'
import { type Item, Timeline } from './timeline.ts'

export interface Followed {
  readonly items: readonly Item[]
  /** Everything that is there has been read; what comes now is new. */
  readonly isCaughtUp: boolean
  readonly isAway: boolean
  readonly failure?: string | undefined
}

const pageSize = 1000

/** The events of a task: first what there is, page by page, then what comes, without a gap. The page is not kept busy by either. */
export function useTimeline(task: string): Followed {
  const [followed, setFollowed] = useState<Followed>({ items: [], isCaughtUp: false, isAway: false })
  useEffect(() => {
    const ended = new AbortController()
    const timeline = new Timeline()
    let waiting: Event[] = []
    let frame = 0
    const change = (fields: Partial<Followed>) => {
      if (!ended.signal.aborted) setFollowed((before) => ({ ...before, ...fields }))
    }
    const show = () => {
      frame = 0
      timeline.add(waiting)
      waiting = []
      change({ items: timeline.items })
    }
    setFollowed({ items: [], isCaughtUp: false, isAway: false })
    const follow = async (signal: AbortSignal) => {
      for (;;) {
        const { items, next } = await pawl.readEvents(task, { after: timeline.lastSeq, limit: pageSize })
        if (signal.aborted) return
        timeline.add(items)
        change({ items: timeline.items, isAway: false })
        if (next === null) break
      }
      change({ isCaughtUp: true })
      const onState = (state: 'live' | 'away') => change({ isAway: state === 'away' })
      // Whoever sees the page can answer on it: a run may wait a moment for that.
      const how = { after: timeline.lastSeq, attends: true, patienceMs: Number.POSITIVE_INFINITY }
      for await (const event of pawl.followEvents(task, { ...how, signal, onState })) {
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
      cancelAnimationFrame(frame)
    }
  }, [task])
  return followed
}
