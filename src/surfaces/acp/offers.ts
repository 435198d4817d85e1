import type { AvailableCommand, SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk'
import { didYouMean } from '../../domain/base/nearest.ts'
import { invalid, PawlError } from '../../domain/error.ts'
import type { ProfileSummary } from '../../domain/profile/view.ts'
import type { AgentView } from '../../domain/view/view.ts'
import type { AcpHome } from './home.ts'

/** What the tasks of a session are done with; each task keeps what it was asked for with. */
export interface Choices {
  readonly agent: string
  readonly profile: string
  /** The profile that the agent has without being told: it is then not named with the task. */
  readonly ownProfile: string
  /** That of the agent if left out. */
  readonly model?: string | undefined
}

/** What somebody may choose from in a session. */
export interface Offers {
  readonly modes: SessionModeState
  readonly configOptions: SessionConfigOption[]
}

export const optionIds = { profile: 'profile', model: 'model', agent: 'agent' } as const
/** No model is called this: a name begins with a letter, a digit or @. */
const ownModel = '-'

export async function offersFor(home: AcpHome, chosen: Choices): Promise<Offers> {
  const [profiles, agents, models] = await home.use((runtime) =>
    Promise.all([runtime.listProfiles(), runtime.listAgents(), runtime.listModels({ check: false })]),
  )
  const own = agents.find(({ name }) => name === chosen.agent)
  const alike = agents.filter((agent) => agent.adapter === own?.adapter)
  const names = [...new Set([...models.map(({ name }) => name), ...(chosen.model ? [chosen.model] : [])])]
  return {
    modes: {
      currentModeId: chosen.profile,
      availableModes: withOwn(profiles, chosen.profile).map(({ name, says }) => ({ id: name, name, description: says })),
    },
    configOptions: [
      select(optionIds.profile, 'Profile', 'mode', chosen.profile, {
        description: 'What the agent may see and do.',
        options: withOwn(profiles, chosen.profile).map(({ name, says }) => ({ value: name, name, description: says })),
      }),
      ...(own?.can.includes('model') && names.length > 0
        ? [
            select(optionIds.model, 'Model', 'model', chosen.model ?? ownModel, {
              description: 'The model that answers.',
              options: [
                { value: ownModel, name: own.model === null ? "The agent's own" : `The agent's own (${own.model})` },
                ...names.map((name) => ({ value: name, name })),
              ],
            }),
          ]
        : []),
      // A conversation belongs to its kind of program: only those who speak to the same one can go on with it.
      ...(alike.length > 1
        ? [
            select(optionIds.agent, 'Agent', '_agent', chosen.agent, {
              description: 'Who does the work.',
              options: alike.map((agent) => ({ value: agent.name, name: agent.name, description: describe(agent) })),
            }),
          ]
        : []),
    ],
  }
}

/** What is chosen after one option was set. Refuses what is not offered. */
export function chosenBy(chosen: Choices, offers: Offers, id: string, value: unknown): Choices {
  const option = offers.configOptions.find((each) => each.id === id)
  if (option?.type !== 'select')
    throw invalid(
      `This session has no option "${id}"${didYouMean(
        id,
        offers.configOptions.map((each) => each.id),
      )}`,
    )
  const values = option.options.flatMap((each) => ('value' in each ? [each.value] : each.options.map((one) => one.value)))
  if (typeof value !== 'string' || !values.includes(value))
    throw invalid(`${option.name} cannot be ${JSON.stringify(value)}${didYouMean(String(value), values)}`)
  switch (id) {
    case optionIds.profile:
      return { ...chosen, profile: value }
    case optionIds.agent:
      return { ...chosen, agent: value }
    default:
      return { ...chosen, model: value === ownModel ? undefined : value }
  }
}

/** Prompts that the owner keeps, by name: `/name` and what goes into it. */
export async function commandsOf(home: AcpHome): Promise<AvailableCommand[]> {
  const templates = await home
    .use((runtime) => runtime.listTemplates())
    .catch((error: unknown) => {
      // Whoever may ask for tasks need not be allowed to read them.
      if (error instanceof PawlError && error.code === 'denied') return []
      throw error
    })
  return templates.map(({ name, text }) => ({
    name,
    description:
      text
        .split('\n')
        .find((line) => line.trim() !== '')
        ?.trim()
        .slice(0, 200) || `The template ${name}.`,
    input: { hint: 'what is put into the template' },
  }))
}

/** One of this folder alone is in force though the daemon does not know it. */
const withOwn = (profiles: readonly ProfileSummary[], own: string) => [
  ...profiles.map((profile) => ({ name: profile.name, says: describeProfile(profile) })),
  ...(profiles.some(({ name }) => name === own) ? [] : [{ name: own, says: "As this folder's settings have it." }]),
]

const describeProfile = ({ name, base, walls }: ProfileSummary) =>
  `${name === base ? 'Built in' : `Stands on ${base}`}; ${walls ? 'within walls' : 'NO WALLS: all the rights of your own user'}.`

const describe = ({ title, model, health }: AgentView) =>
  [model === null ? title : `${title}, ${model}`, health.installed ? undefined : 'not installed'].filter(Boolean).join('; ')

function select(
  id: string,
  name: string,
  category: string,
  currentValue: string,
  rest: { description: string; options: { value: string; name: string; description?: string }[] },
): SessionConfigOption {
  return { type: 'select', id, name, category, currentValue, ...rest }
}
