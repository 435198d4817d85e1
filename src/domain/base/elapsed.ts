/** How long something took, for people: "0.4 s", "12 s", "3 m 05 s", "2 h 10 m". */
export function elapsed(ms: number): string {
  const seconds = ms / 1000
  if (seconds < 10) return `${Number.isInteger(seconds) ? seconds : seconds.toFixed(1)} s`
  if (seconds < 60) return `${Math.floor(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} m ${pad(Math.floor(seconds % 60))} s`
  return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} m`
}

const pad = (n: number) => String(n).padStart(2, '0')

/** Local time; the day only when it is not today. */
export function formatTime(iso: string, now = new Date()): string {
  const at = new Date(iso)
  const time = `${pad(at.getHours())}:${pad(at.getMinutes())}`
  if (at.toDateString() === now.toDateString()) return time
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${time}`
}

/** How long it is until then: "in 40 s", "in 1 h 59 m", "in 3 d 04 h"; "now" when that has passed. */
export function formatUntil(iso: string, nowMs = Date.now()): string {
  const leftMs = Date.parse(iso) - nowMs
  if (leftMs <= 0) return 'now'
  const days = Math.floor(leftMs / 86_400_000)
  if (days > 0) return `in ${days} d ${pad(Math.floor((leftMs % 86_400_000) / 3_600_000))} h`
  return `in ${elapsed(Math.ceil(leftMs / 1_000) * 1_000)}`
}
