import type { FeedPlace } from '../../store/feed.ts'

const snapshot = '(\\d{1,19}:\\d{1,19}:(?:\\d{1,19}(?:,\\d{1,19}){0,999})?)'
const form = new RegExp(`^${snapshot}(?:/${snapshot}/(t_[0-9a-z]{1,40})/(\\d{1,15}))?$`)

/** Where a reader of all tasks goes on, as one word. */
export const writeCursor = ({ seen, within }: FeedPlace) =>
  Buffer.from(within ? `${seen}/${within.until}/${within.task}/${within.seq}` : seen).toString('base64url')

/** Undefined for what was not written here; what it says may still be of another database. */
export function parseCursor(cursor: string): FeedPlace | undefined {
  const [, seen, until, task, seq] = form.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? []
  if (seen === undefined || !isSnapshot(seen)) return undefined
  if (until === undefined) return { seen }
  return isSnapshot(until) ? { seen, within: { until, task: task!, seq: Number(seq) } } : undefined
}

/** As the database writes them: those under way lie between the two bounds, each after the one before. */
function isSnapshot(text: string): boolean {
  const [min, max, underWay] = text.split(':') as [string, string, string]
  const all = [min, ...(underWay === '' ? [] : underWay.split(',')), max].map(BigInt)
  return (
    all[0]! > 0n &&
    all.every((xact, n) => n === 0 || all[n - 1]! < xact || (all[n - 1] === xact && (n === 1 || all.length === 2)))
  )
}
