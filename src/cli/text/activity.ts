import type { Activity } from '../../domain/view/activity.ts'

/** Says what a running task is doing, and for how long: "running tool Bash for 12 min". For the command line and the web UI. */
export function activityWords({ kind, name, since }: Activity, nowMs = Date.now()): string {
  const lasts = spoken(Math.max(0, nowMs - Date.parse(since)))
  switch (kind) {
    case 'tool':
      return `running tool ${name} for ${lasts}`
    case 'check':
      return `running check ${name} for ${lasts}`
    case 'model':
      return `waiting for the model for ${lasts}`
    case 'busy':
      return `no output for ${lasts}; using CPU or doing I/O`
    case 'silent':
      return `no output for ${lasts}`
    case 'working':
      return 'working'
  }
}

function spoken(ms: number): string {
  if (ms < 60_000) return `${Math.floor(ms / 1_000)} s`
  const minutes = Math.floor(ms / 60_000)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
