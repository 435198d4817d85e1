import { invalid } from '../../domain/error.ts'

/** A time that somebody wrote, by how long ago it is or by its date. */
export async function writtenTime(option: string, written: string): Promise<string> {
  if (written === 'today') return new Date(new Date().setHours(0, 0, 0, 0)).toISOString()
  const { parseDuration } = await import('../../config/duration.ts')
  const days = /^(\d{1,4})d$/.exec(written)?.[1]
  const agoMs = days === undefined ? parseDuration(written) : Number(days) * 86_400_000
  const at = agoMs === undefined ? new Date(written) : new Date(Date.now() - agoMs)
  if (Number.isNaN(at.getTime()))
    throw invalid(`${option} must be how long ago, such as 7d or 12h, "today", or a date such as 2026-11-01.`)
  return at.toISOString()
}
