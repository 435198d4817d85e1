import type { Clock } from '../../base/clock.ts'
import type { Finding } from '../../domain/run/health.ts'

/** What asking the programs of agents has shown after runs that failed and did not say why. */
export interface Findings {
  note(agent: string, found: Omit<Finding, 'at'>): void
  of(agent: string): Finding | undefined
}

export function rememberFindings(clock: Clock): Findings {
  const known = new Map<string, Finding>()
  return {
    note(agent, { healthy, detail, fix }) {
      if (known.size > 1_000) known.clear()
      known.set(agent, { healthy, detail: detail.slice(0, 500), fix, at: new Date(clock.now()) })
    },
    of: (agent) => known.get(agent),
  }
}
