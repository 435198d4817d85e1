import type { Adapter, AgentHealth, ProbePlace } from '../../agents/port.ts'
import type { Log } from '../../base/log.ts'
import type { ResolvedAgent } from '../../domain/agent/agent-config.ts'
import { messageOf } from '../../domain/error.ts'

/**
 * For a run that failed and did not say why: asks how the program is, after the run is settled and beside everything else, so that one log line names the cause.
 * Never called when the cause is known; a probe that fails changes nothing. What it finds is kept with the agent, for whoever looks at how it is.
 */
export async function explainFailure(options: {
  adapter: Adapter
  agent: ResolvedAgent
  place: ProbePlace
  log: Log
  onFound?: ((agent: string, health: AgentHealth) => void) | undefined
}): Promise<void> {
  const { adapter, agent, place, log, onFound } = options
  try {
    const written = adapter.options.safeParse(agent.options)
    const health = await adapter.probe(written.success ? written.data : agent.options, {
      ...place,
      endpoint: agent.baseUrl,
      model: agent.model,
    })
    onFound?.(agent.name, health)
    const said = health.healthy ? 'the program is well now, so it was a passing failure' : health.detail
    log.info('why a run may have failed', { agent: agent.name, probed: said.slice(0, 4_096), fix: health.fix, reason: 'probed' })
  } catch (error) {
    log.warn('a failed run could not be explained', { agent: agent.name, error: messageOf(error), reason: 'probed' })
  }
}
