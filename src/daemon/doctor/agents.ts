import type { Config } from '../../config/config.ts'
import type { Finding } from '../../domain/view/doctor.ts'
import type { AgentView } from '../../domain/view/view.ts'
import { describeAgents } from '../machine/describe-agents.ts'

/** An agent that somebody configured must work, and one whose program is there should; those that Pawl merely knows are told in one line. */
export async function agents(config: Config): Promise<Finding[]> {
  const all = await describeAgents(config)
  const isMerelyKnown = (agent: AgentView) => agent.source === 'builtin' && !agent.health.installed
  const known = all.filter(isMerelyKnown).map(({ name }) => name)
  const rows = all
    .filter((agent) => !isMerelyKnown(agent))
    .map(({ name, source, health }): Finding => {
      const { healthy, loggedIn, detail, fix } = health
      const level = healthy ? (loggedIn === false ? 'warn' : 'ok') : source === 'builtin' ? 'warn' : 'fail'
      return { name: `agent ${name}`, level, detail, ...(fix ? { fix } : {}) }
    })
  if (known.length === 0) return rows
  const detail = `known here, not installed and not configured: ${known.join(', ')}`
  return [...rows, { name: 'other agents', level: 'note', detail, fix: 'pawl agents says how each is installed' }]
}
