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
