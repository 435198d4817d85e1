import { useEffect, useState } from 'react'
import { activityWords } from '../../../src/cli/text/activity.ts'
import { formatAge, formatTime } from '../../../src/cli/text/format.ts'
import type { Activity } from '../../../src/domain/view/activity.ts'

/** How long ago; the time itself is in its title. */
export function Ago({ at }: { at: string }) {
  const now = useNow(10_000)
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {formatAge(Math.max(1_000, now - Date.parse(at)))}
    </time>
  )
}

/** The same within a sentence. */
export function Since({ at }: { at: string }) {
  const now = useNow(10_000)
  const age = formatAge(now - Date.parse(at))
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {age === 'now' ? 'just now' : `${age} ago`}
    </time>
  )
}

/** What a running task is doing, and for how long. */
export function Doing({ activity }: { activity: Activity }) {
  const now = useNow(1_000)
  return (
    <p className="one-line" title={`since ${new Date(activity.since).toLocaleString()}`}>
      {activityWords(activity, now)}
    </p>
  )
}

/** How long until then, counting down. */
export function Countdown({ to }: { to: string }) {
  const now = useNow(1_000)
  const left = Math.max(0, Date.parse(to) - now)
  const text = left === 0 ? 'any moment' : left < 90_000 ? `${Math.ceil(left / 1_000)} s` : spoken(left)
  return (
    <time dateTime={to} title={new Date(to).toLocaleString()}>
      {text} <span className="faint">({formatTime(to)})</span>
    </time>
  )
}

function spoken(ms: number): string {
  const minutes = Math.ceil(ms / 60_000)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`
}

function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}
