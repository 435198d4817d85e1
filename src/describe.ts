import { homedir } from 'node:os'
import { abilities, type ProbePlace } from './agent.ts'
import { adapterNamed } from './agents/index.ts'
import { type Config, environmentOf, searchPath } from './config.ts'
import type { ResolvedAgent } from './domain/agent-config.ts'
import { findModel } from './domain/models.ts'
import type { AgentView } from './domain/view.ts'

/** The configured agents with what they can do and how they are. Programs are asked in parallel. */
export async function describeAgents(config: Config): Promise<AgentView[]> {
  const isDefault = await pickDefaultAgent(config)
  return Promise.all(
    config.agents.map(async (agent) => {
      const adapter = adapterNamed(agent.adapter)
      const health = await adapter.probe(agent.options, placeOf(agent, config))
      const provider = providerOf(agent)
      return {
        name: agent.name,
        adapter: agent.adapter,
        model: agent.model ?? null,
        profile: agent.profile,
        source: agent.source,
        isDefault: agent.name === isDefault,
        can: abilities.filter((ability) => adapter.can[ability]),
        health: {
          installed: health.installed,
          healthy: health.healthy,
          version: health.version ?? null,
          // What lies in a key file of the settings is looked at by a run only.
          loggedIn: (agent.auth?.file !== undefined || provider) && !health.loggedIn ? null : (health.loggedIn ?? null),
          detail: provider ? `${health.detail}; its model is served by provider "${provider}"` : health.detail,
          fix: provider && health.healthy ? null : (health.fix ?? null),
        },
      }
    }),
  )
}

/** Who serves its model, if the settings list it: then the program needs no login of its own. */
const providerOf = ({ model, models, gateway }: ResolvedAgent): string | undefined =>
  model === undefined || gateway === false ? undefined : findModel(models, model)?.provider

/** A key in a variable that the agent's settings name or fix lets the program in as well as one that it knows by itself. */
function placeOf({ auth, env }: ResolvedAgent, { home }: Config): ProbePlace {
  const environment = (asked: readonly string[]) => {
    const names = [...(auth?.env ?? []), ...asked]
    const fixed = Object.entries(env.set).filter(([name]) => names.includes(name))
    return { ...environmentOf(names), ...Object.fromEntries(fixed) }
  }
  return { path: searchPath(), home: homedir(), environment, untrusted: [home] }
}

/** Named in the settings, else the first configured, else the first built-in one that works here and is let in by its model. */
export async function pickDefaultAgent(config: Config): Promise<string> {
  if (config.defaultAgent !== undefined) return config.defaultAgent
  const configured = config.agents.find((agent) => agent.source !== 'builtin')
  if (configured) return configured.name
  for (const agent of config.agents) {
    const health = await adapterNamed(agent.adapter).probe(agent.options, placeOf(agent, config))
    if (health.healthy && health.loggedIn !== false) return agent.name
  }
  return config.agents.at(-1)?.name ?? ''
}
