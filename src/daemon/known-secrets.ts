import { adapterNamed, adapters } from '../agents/index.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../config/config.ts'
import { environmentOf } from '../config/config.ts'
import type { ResolvedAgent } from '../domain/agent/agent-config.ts'
import { type Secret, secretsIn } from '../domain/base/secret-names.ts'
import { messageOf } from '../domain/error.ts'
import { rightsOf } from '../domain/profile/resolve.ts'
import { findKey } from '../engine/auth/agent-access.ts'
import { loginTexts, secretsOf } from '../engine/auth/lent-login.ts'
import type { Secrets } from '../engine/auth/secrets.ts'
import { revealer } from '../engine/mcp-servers/reveal.ts'
import { keyReader } from '../engine/models/provider-key.ts'
import type { Redactor } from '../redact/redactor.ts'

/** Keeps every secret that Pawl can read in the redactor, so that what one run wrote down is hidden from all later ones, whatever those are given. */
export interface KnownSecrets {
  /** Reads them anew. Never rejects: a place that cannot be read is logged, and what was found there last stays hidden. */
  refresh(): Promise<void>
}

export interface KnownSecretsParts {
  readonly config: Pick<Config, 'agents' | 'env' | 'users' | 'providers' | 'mcpServers'>
  readonly secrets: Pick<Secrets, 'all'>
  readonly redactor: Pick<Redactor, 'add'>
  readonly userHome: string
  readonly clock: Clock
  readonly log: Log
}

/** A keychain that is locked may take half a minute to say so; not each run shall wait for it. */
const askedAgainMs = 60_000

/** What was found in one place, and what takes it back. */
interface Held {
  /** Which reading it is of: another run may have asked later and been answered sooner. */
  readonly reading: number
  readonly reveals: readonly (() => void)[]
}

export function createKnownSecrets(parts: KnownSecretsParts): KnownSecrets {
  const { redactor, clock, log } = parts
  const held = new Map<string, Held>()
  const notBefore = new Map<string, number>()
  let readings = 0

  const hold = (place: string, reading: number, found: readonly Secret[]) => {
    const earlier = held.get(place)
    if (earlier && earlier.reading > reading) return
    // What is still secret is added before it is taken back: it is never shown in between.
    held.set(place, { reading, reveals: found.map(({ name, value }) => redactor.add(name, value)) })
    for (const reveal of earlier?.reveals ?? []) reveal()
  }
  const look = async (place: string, read: () => Promise<readonly Secret[]>) => {
    if (clock.monotonic() < (notBefore.get(place) ?? Number.NEGATIVE_INFINITY)) return
    const reading = ++readings
    try {
      hold(place, reading, await read())
      notBefore.delete(place)
    } catch (error) {
      if (!notBefore.has(place))
        log.warn(`what is secret in ${place} cannot be read, and is hidden only from runs that are given it`, {
          error: messageOf(error),
          reason: 'secrets_unknown',
        })
      notBefore.set(place, clock.monotonic() + askedAgainMs)
    }
  }
  return {
    async refresh() {
      const places = placesOf(parts)
      for (const place of held.keys()) if (!places.has(place)) hold(place, ++readings, [])
      await Promise.all([...places].map(([place, read]) => look(place, read)))
    },
  }
}

/** The settings may have changed since the last look. */
function placesOf({ config, secrets, userHome, clock }: KnownSecretsParts): Map<string, () => Promise<readonly Secret[]>> {
  const environment = environmentOf
  const secretsFor = async () => []
  const logins = adapters.flatMap(({ login }) => login?.files ?? [])
  const places = new Map<string, () => Promise<readonly Secret[]>>([
    ['the secret store', () => secrets.all()],
    ['the environment', async () => inEnvironment(config)],
    ['the logins of agent programs', async () => (await loginTexts(logins, userHome)).flatMap(secretsOf)],
  ])
  for (const agent of config.agents)
    if (agent.auth?.file !== undefined) places.set(`the key file of agent ${agent.name}`, () => keyOf(agent))
  // Those of the store are known already.
  for (const [name, { key }] of Object.entries(config.providers))
    if (key && ('file' in key || ('env' in key && environment([key.env])[key.env] !== undefined)))
      places.set(`the key of provider ${name}`, async () =>
        listOf(await keyReader(name, key, nobody, { environment, secretsFor, clock })()),
      )
  for (const reference of referencesIn(config.mcpServers)) places.set(`the MCP setting ${reference}`, () => referredTo(reference))
  return places
}

const nobody = { agent: '', user: '' }

const listOf = (secret: Secret | undefined) => (secret ? [secret] : [])

/** What the settings set or pass on to programs, and the variables in which agent programs look for their keys. */
function inEnvironment({ agents, env, users }: KnownSecretsParts['config']): Secret[] {
  const given = [
    env,
    ...Object.values(users).map((user) => user.env),
    ...agents.flatMap((agent) => [agent.env, rightsOf(agent).env]),
  ]
  const named = [...adapters, ...agents.map(adapterOf)].flatMap(({ login }) => login?.variables ?? [])
  const keys = environmentOf([...named, ...agents.flatMap(({ auth }) => auth?.env ?? [])])
  return [
    ...Object.entries(keys).map(([name, value]) => ({ name, value })),
    ...given.flatMap(({ pass, set }) => secretsIn({ ...environmentOf(pass), ...set })),
  ]
}

const adapterOf = ({ adapter, options }: ResolvedAgent) => adapterNamed(adapter, options)

const keyOf = async (agent: ResolvedAgent) =>
  listOf(await findKey({ agent, environment: environmentOf }, adapterOf(agent).login?.variables ?? []))

/** Those that need no secret store. */
const referencesIn = (servers: Config['mcpServers']): string[] => [
  ...new Set(JSON.stringify(servers).match(/\$\{(?!secret:)[^}]*\}/g) ?? []),
]

async function referredTo(reference: string): Promise<Secret[]> {
  const found: Secret[] = []
  const hide = (all: readonly Secret[]) => void found.push(...all)
  await revealer(nobody, { environment: environmentOf, secretsFor: async () => [], hide })(reference)
  return found
}
