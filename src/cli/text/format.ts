import type { CostKnowledge } from '../../domain/money/cost.ts'
import { stateInWords } from '../../domain/task/task.ts'
import { oneLine } from './plain.ts'

export { elapsed as formatElapsed, formatTime, formatUntil } from '../../domain/base/elapsed.ts'

/** How long ago, in one unit: "now", "40 s", "5 m", "3 h", "2 d". */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 1) return 'now'
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}

export const formatClock = (iso: string) => {
  const at = new Date(iso)
  return `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`
}

/** Cents matter for a task, fractions of them for a small one. */
export const formatMoney = (usd: number) => `$${usd >= 0.1 || usd === 0 ? usd.toFixed(2) : usd.toPrecision(2)}`

/** What it cost, and how sure that is: `~` by our price table, `≥` with parts whose price nobody knows. */
export const formatCost = (usd: number, known: CostKnowledge | undefined) => `${marks[known ?? 'reported']}${formatMoney(usd)}`
const marks: Record<CostKnowledge, string> = { reported: '', priced: '~', unknown: '≥' }

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes / 1024
  let unit = 0
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024
  return `${value >= 10 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

/** A task's state in words; one whose process is gone does not run, whatever was last written of it. */
export const formatTaskState = (task: Parameters<typeof stateInWords>[0] & { readonly interrupted?: boolean | undefined }) =>
  task.interrupted ? 'interrupted (no daemon)' : stateInWords(task)

/** `timed_out` as people write it. */
export const formatState = (state: string) => state.replaceAll('_', ' ')

/** How long a run took; 0 for one that has not begun or not ended. */
export const durationOf = (run: { startedAt: string | null; endedAt: string | null }) =>
  run.startedAt === null || run.endedAt === null ? 0 : Math.max(0, Date.parse(run.endedAt) - Date.parse(run.startedAt))

/** Never silent about walls that do not hold. */
export const formatWalls = (walls: { walls: string; enforced: boolean }) =>
  walls.enforced ? `walls: ${oneLine(walls.walls)}` : `walls: ${oneLine(walls.walls)}, NOT ENFORCED`

/** The end of an id, by which people name a task. */
export const shortId = (id: string) => id.slice(-6)

const pad = (n: number) => String(n).padStart(2, '0')
