import { type AgentCard, type AgentInterface, type AgentSkill, generateAgentCardSignature } from '@a2a-js/sdk'
import { abilityWords } from '../../domain/agent/abilities.ts'
import type { AgentView } from '../../domain/view/view.ts'
import type { Runtime } from '../../operations/runtime.ts'
import type { CardKey } from './card-key.ts'
import { inputModes } from './incoming.ts'
import type { Cards } from './parts.ts'
import { type Binding, versions } from './versions.ts'

export interface CardParts {
  readonly runtime: Pick<Runtime, 'getAgent' | 'listAgents' | 'listSkills'>
  readonly key: () => Promise<CardKey>
  /** The address of the daemon as others see it. */
  readonly url: () => string
  readonly version: string
  readonly hasPush: boolean
  /** Addresses of further bindings of the same endpoint. */
  readonly otherInterfaces?: ((agent: string | undefined) => readonly AgentInterface[]) | undefined
}

export const baseOf = (agent: string | undefined) => (agent === undefined ? '/a2a' : `/a2a/agents/${agent}`)
export const jwksPath = '/a2a/jwks.json'

/** Asking a program how it is takes a moment; what it said holds for a while. */
const holdsMs = 30_000

/** The cards of the daemon and of its agents. The daemon's first one tells nothing of the home, as it may be public: that there is an A2A server, and how to come in. */
export function createCards(parts: CardParts): Cards {
  const kept = new Map<string, { readonly until: number; readonly card: Promise<AgentCard> }>()
  const keeping = (name: string, make: () => Promise<AgentCard>) => {
    const known = kept.get(name)
    if (known && known.until > performance.now()) return known.card
    const card = make().then((made) => sign(parts, made))
    kept.set(name, { until: performance.now() + holdsMs, card })
    card.catch(() => kept.delete(name))
    return card
  }
  return {
    publicCard: (agent) =>
      keeping(`public ${agent ?? ''}`, async () =>
        agent === undefined ? daemonCard(parts) : agentCard(parts, await parts.runtime.getAgent(agent), []),
      ),
    extendedCard: (agent) =>
      keeping(`extended ${agent ?? ''}`, async () => {
        if (agent === undefined) {
          // What cannot be started here is not offered.
          const agents = (await parts.runtime.listAgents()).filter(({ health }) => health.installed)
          return { ...daemonCard(parts), version: parts.version, skills: [taskSkill([]), ...agents.map(skillOfAgent)] }
        }
        const skills = (await parts.runtime.listSkills({ user: undefined })).filter(
          ({ scope, problem }) => scope === 'global' && problem === null,
        )
        return agentCard(
          parts,
          await parts.runtime.getAgent(agent),
          skills.map(({ name, description, kind }) => skill(name, name, description || name, ['skill', kind])),
        )
      }),
  }
}

const daemonCard = (parts: CardParts): AgentCard => ({
  ...bearing(parts, undefined),
  name: 'Pawl',
  description: 'Runs coding agents unattended. Needs a token; whoever has one is shown more.',
  version: '1',
  skills: [taskSkill([])],
})

const agentCard = (parts: CardParts, agent: AgentView, skills: AgentSkill[]): AgentCard => ({
  ...bearing(parts, agent.name),
  name: agent.name,
  description: `The agent "${agent.name}": ${agent.title}${agent.model === null ? '' : ` with the model ${agent.model}`}, run by Pawl.`,
  version: parts.version,
  skills: [taskSkill(agent.can), ...skills],
})

/** What all cards have. */
function bearing(
  { url, hasPush, otherInterfaces }: CardParts,
  agent: string | undefined,
): Omit<AgentCard, 'name' | 'description' | 'version' | 'skills'> {
  const address = `${url()}${baseOf(agent)}`
  const spoken = (Object.keys(versions) as Binding[]).flatMap((protocolBinding) =>
    versions[protocolBinding].map((protocolVersion) => ({ url: address, protocolBinding, protocolVersion, tenant: '' })),
  )
  // The newest first: clients take the first that they know.
  const interfaces = [...spoken, ...(otherInterfaces?.(agent) ?? [])].sort((a, b) =>
    b.protocolVersion.localeCompare(a.protocolVersion),
  )
  return {
    supportedInterfaces: interfaces,
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: hasPush, extendedAgentCard: true, extensions: [] },
    securitySchemes: {
      token: {
        scheme: {
          $case: 'httpAuthSecurityScheme',
          value: { description: 'A token of this Pawl ("pawl token create").', scheme: 'Bearer', bearerFormat: '' },
        },
      },
    },
    securityRequirements: [{ schemes: { token: { list: [] } } }],
    defaultInputModes: inputModes,
    defaultOutputModes: ['text/plain', 'application/json', 'application/octet-stream'],
    signatures: [],
  }
}

async function sign({ key, url }: CardParts, card: AgentCard): Promise<AgentCard> {
  const { privateKey, publicJwk } = await key()
  const signed = generateAgentCardSignature(privateKey, {
    alg: 'ES256',
    kid: publicJwk.kid,
    typ: 'JOSE',
    jku: `${url()}${jwksPath}`,
  })
  return signed(card)
}

const taskSkill = (can: readonly string[]) =>
  skill('task', 'A coding task', `Does what it is asked to in a workspace${abilitiesOf(can)}.`, ['coding', ...can])

const skillOfAgent = ({ name, title, can }: AgentView) =>
  skill(
    `agent.${name}`,
    name,
    `A coding task done by the agent "${name}" (${title})${abilitiesOf(can)}. Chosen by metadata.agent.`,
    ['agent', ...can],
  )

const abilitiesOf = (can: readonly string[]) =>
  can.length === 0 ? '' : `; it ${can.map((one) => abilityWords[one as keyof typeof abilityWords]).join('; ')}`

const skill = (id: string, name: string, description: string, tags: string[]): AgentSkill => ({
  id,
  name,
  description,
  tags,
  examples: [],
  inputModes: [],
  outputModes: [],
  securityRequirements: [],
})
