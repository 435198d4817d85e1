import { homedir } from 'node:os'
import { adapterNamed, programOf } from '../../agents/index.ts'
import { type Adapter, type AgentHealth, abilities, type ProbePlace } from '../../agents/port.ts'
import { type Config, environmentOf, searchPath } from '../../config/config.ts'
import { findAgent } from '../../config/load.ts'
import type { ResolvedAgent } from '../../domain/agent/agent-config.ts'
import { findModel } from '../../domain/agent/models.ts'
import { newerThanTried } from '../../domain/agent/tried-versions.ts'
import type { AgentView } from '../../domain/view/view.ts'

type Look = (agent: ResolvedAgent) => Promise<AgentHealth>

/** The configured agents with what they can do and how they are. Programs are asked in parallel, each once. */
export async function describeAgents(config: Config): Promise<AgentView[]> {
  const look = lookOnce(config)
  const views = config.agents.map(async (agent) => ({ ...(await describe(agent, look)), source: agent.source }))
  const isDefault = await pickDefaultAgent(config, look)
  return (await Promise.all(views)).map((view) => ({ ...view, isDefault: view.name === isDefault }))
}

/** One of them; only the program of that one is asked, and of others as far as they are asked for the default. */
export async function describeAgent(config: Config, name: string): Promise<AgentView> {
  const agent = findAgent(config, name)
  const look = lookOnce(config)
  const [view, isDefault] = await Promise.all([describe(agent, look), pickDefaultAgent(config, look)])
  return { ...view, source: agent.source, isDefault: view.name === isDefault }
}

async function describe(agent: ResolvedAgent, look: Look): Promise<Omit<AgentView, 'isDefault' | 'source'>> {
  const adapter = adapterOf(agent)
  const health = await look(agent)
  const provider = providerOf(agent)
  const { title, tried, install } = programOf(agent)
  return {
    name: agent.name,
    adapter: agent.adapter,
    model: agent.model ?? null,
    profile: agent.profile,
    title,
    isOurs: adapter.isOurs ?? false,
    can: abilities.filter((ability) => adapter.can[ability]),
    tried: tried ?? null,
    install: install ?? null,
    health: {
      installed: health.installed,
      healthy: health.healthy,
      version: health.version ?? null,
      // What lies in a key file of the settings is looked at by a run only.
      loggedIn: (agent.auth?.file !== undefined || provider) && !health.loggedIn ? null : (health.loggedIn ?? null),
      detail: provider ? `${health.detail}; its model is served by provider "${provider}"` : health.detail,
      fix: provider && health.healthy ? null : (health.fix ?? null),
      warning: newerThanTried(title, tried, health.version) ?? null,
    },
    // A variable of ours is how a program gets its key, not where anybody puts one.
    login: adapter.login
      ? {
          variables: adapter.login.variables.filter((name) => !name.startsWith('PAWL_')),
          files: adapter.login.files.map(({ path }) => `~/${path}`),
        }
      : null,
    hosts: [...(adapter.hosts ?? [])],
    obeys: [...new Set((adapter.codePaths ?? []).map(({ path }) => path))],
    tools: [...(adapter.ownTools ?? [])],
    sessionFiles: [...(adapter.sessions?.layouts('ID') ?? [])],
  }
}

/** As it is for the agent's own options, where those decide what it can do. */
function adapterOf({ adapter, options }: ResolvedAgent): Adapter {
  const found = adapterNamed(adapter)
  return found.suited?.(options) ?? found
}

function lookOnce(config: Config): Look {
  const asked = new Map<ResolvedAgent, Promise<AgentHealth>>()
  return (agent) => {
    const known = asked.get(agent) ?? adapterNamed(agent.adapter).probe(agent.options, placeOf(agent, config))
    asked.set(agent, known)
    return known
  }
}

/** Who serves its model, if the settings list it: then the program needs no login of its own. */
const providerOf = ({ model, models, gateway }: ResolvedAgent): string | undefined =>
  model === undefined || gateway === false ? undefined : findModel(models, model)?.provider

/** A key in a variable that the agent's settings name or fix lets the program in as well as one that it knows by itself. */
function placeOf({ auth, env, baseUrl, model }: ResolvedAgent, { home }: Config): ProbePlace {
  const environment = (asked: readonly string[]) => {
    const names = [...(auth?.env ?? []), ...asked]
    const fixed = Object.entries(env.set).filter(([name]) => names.includes(name))
    return { ...environmentOf(names), ...Object.fromEntries(fixed) }
  }
  return { path: searchPath(), home: homedir(), environment, untrusted: [home], endpoint: baseUrl, model }
}

/** Named in the settings, else the first configured, else the first built-in one that works here and is let in by its model. */
export async function pickDefaultAgent(config: Config, look: Look = lookOnce(config)): Promise<string> {
  if (config.defaultAgent !== undefined) return config.defaultAgent
  const configured = config.agents.find((agent) => agent.source !== 'builtin')
  if (configured) return configured.name
  for (const agent of config.agents) {
    const health = await look(agent)
    if (health.healthy && health.loggedIn !== false) return agent.name
  }
  return config.agents.at(-1)?.name ?? ''
}
