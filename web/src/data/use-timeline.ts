import { useEffect, useState } from 'react'
import { messageOf } from '../../../src/domain/error.ts'
import type { Event } from '../../../src/domain/event.ts'
import { pawl } from './pawl.ts'
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
    const follow = async () => {
      let after = 0
      for (;;) {
        const { items, next } = await pawl.readEvents(task, { after, limit: pageSize })
        if (ended.signal.aborted) return
        timeline.add(items)
        after = timeline.lastSeq
        change({ items: timeline.items })
        if (next === null) break
      }
      change({ isCaughtUp: true })
      const onState = (state: 'live' | 'away') => change({ isAway: state === 'away' })
      const options = { after, attends: true, signal: ended.signal, onState, patienceMs: Number.POSITIVE_INFINITY }
      for await (const event of pawl.followEvents(task, options)) {
        waiting.push(event)
        frame ||= requestAnimationFrame(show)
      }
    }
    follow().catch((error: unknown) => change({ failure: messageOf(error) }))
    return () => {
      ended.abort()
      cancelAnimationFrame(frame)
    }
  }, [task])
  return followed
}
