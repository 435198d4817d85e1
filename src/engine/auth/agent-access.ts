import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import type { Access, Login } from '../../agents/port.ts'
import type { Clock } from '../../base/clock.ts'
import type { ResolvedAgent } from '../../domain/agent/agent-config.ts'
import type { Secret } from '../../domain/base/secret-names.ts'
import { messageOf } from '../../domain/error.ts'
import { writeHomeFile } from '../../sandbox/files/home-files.ts'
import { readNamedFile } from '../../sandbox/files/read-file.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import { RunFailure } from '../base/failure.ts'
import type { Leftovers } from './cleanup-journal.ts'
import { lendLogin, loginTexts } from './lent-login.ts'

/** A way in that was found: which one, and what tells it from others. Nothing is given to the program yet. */
export interface Entrance {
  /** Equal for two runs if both would be let in the same way. A digest: it shows no key. */
  readonly likeness: string
  /** `doorToken` is what the program shows at its door. */
  open(doorToken: string): Promise<OpenAccess>
}

/** How an agent's program is let in by its model while it lives. */
export interface OpenAccess {
  readonly access: Access
  /** The key, where it is given in a variable. */
  readonly variables: Readonly<Record<string, string>>
  /** Variables that the program must not have, whatever the settings say. */
  readonly withheld?: readonly string[] | undefined
  /** All that lets somebody in, as far as it is known now: a program renews its login when it likes. */
  secrets(): readonly Secret[]
  /** A login that the program has refreshed goes back to where it came from. */
  returnLogin(): Promise<void>
  /** Nothing that lets anybody in stays behind in the session home. */
  close(): Promise<void>
}

export interface AccessPlace {
  readonly agent: ResolvedAgent
  readonly login: Login | undefined
  readonly environment: (names: readonly string[]) => Record<string, string>
  /** The home of Pawl's own user. */
  readonly userHome: string
  readonly sessionHome: string
  readonly user: AgentUser | undefined
  readonly leftovers: Leftovers
  readonly clock: Clock
  /** Told of secrets that become known while they are lent. */
  readonly hide: (secrets: readonly Secret[]) => void
}

const scriptFile = '.pawl-key'

/**
 * Looks for a key in the variables that the settings name, then in those that the program knows, then in the file that the settings name; without one the program's
 * own login is lent to it. One place that is named and empty does not hide the next.
 */
export async function findAccess(place: AccessPlace): Promise<Entrance> {
  const { login, agent } = place
  if (!login) return entrance('none', async () => noAccess)
  const key = await findKey(place, login.variables)
  if (key && agent.auth?.via === 'script') return entrance(`script ${key.value}`, () => byScript(place, login, key))
  if (key) return entrance(`variable ${key.name} ${key.value}`, async () => byVariable(key, login))
  const texts = await loginTexts(login.files, place.userHome)
  return texts.length === 0
    ? entrance('none', async () => noAccess)
    : entrance(`login ${texts.join('\0')}`, () => byLogin(place, login))
}

/**
 * For a program whose model is served at its door: in place of a key it gets the token of that door, in the same way, in the variable of that name. Keys may change while it lives, as it never
 * has one. Variables that may hold a key are kept from it.
 */
export function doorAccess(place: AccessPlace, keptBack: readonly string[], keyName = place.login?.variables[0]): Entrance {
  const { login, agent } = place
  const withheld = [...new Set([...(login?.variables ?? []), ...(agent.auth?.env ?? []), ...keptBack])]
  if (!login || keyName === undefined) return entrance('door', async () => ({ ...noAccess, withheld }))
  const name = keyName
  return agent.auth?.via === 'script'
    ? entrance('door script', async (value) => ({ ...(await byScript(place, login, { name, value })), withheld }))
    : entrance('door', async (value) => ({ ...byVariable({ name, value }, login), withheld }))
}

/** Undefined if neither the variables nor the file that the settings name hold one. */
export async function findKey(
  place: Pick<AccessPlace, 'agent' | 'environment'>,
  known: readonly string[],
): Promise<Secret | undefined> {
  return (await keyInVariable(place, known)) ?? (await keyInFile(place.agent, known[0] ?? 'key'))
}

const entrance = (what: string, open: Entrance['open']): Entrance => ({
  likeness: createHash('sha256').update(what).digest('hex'),
  open,
})

const noAccess: OpenAccess = {
  access: { kind: 'none' },
  variables: {},
  secrets: () => [],
  returnLogin: async () => {},
  close: async () => {},
}

async function keyInVariable(
  { agent, environment }: Pick<AccessPlace, 'agent' | 'environment'>,
  known: readonly string[],
): Promise<Secret | undefined> {
  const names = [...(agent.auth?.env ?? []), ...known]
  const set = { ...environment(names), ...agent.env.set }
  const name = names.find((candidate) => (set[candidate] ?? '').trim() !== '')
  return name === undefined ? undefined : { name, value: set[name]!.trim() }
}

async function keyInFile({ auth, name }: ResolvedAgent, variable: string): Promise<Secret | undefined> {
  if (auth?.file === undefined) return undefined
  const text = await readNamedFile(auth.file).catch((error: unknown) => {
    throw new RunFailure('auth_failed', `The key file of agent "${name}" cannot be read: ${messageOf(error)}.`)
  })
  const value = text.trim()
  if (value === '' || /[\0\n]/.test(value))
    throw new RunFailure('auth_failed', `The key file ${auth.file} of agent "${name}" holds no key; put the key in it, alone.`)
  return { name: variable, value }
}

/** Under the name it was found with; if the program does not know that name, under the one it prefers as well. */
function byVariable(key: Secret, login: Login): OpenAccess {
  const known = login.variables.includes(key.name) ? key.name : login.variables[0]!
  return {
    ...noAccess,
    access: { kind: 'variable', name: known },
    variables: { [key.name]: key.value, [known]: key.value },
    secrets: () => [key],
  }
}

async function byScript(place: AccessPlace, login: Login, key: Secret): Promise<OpenAccess> {
  const { sessionHome: home, user, leftovers, agent } = place
  if (!login.script)
    throw new RunFailure(
      'bad_config',
      `The program of agent "${agent.name}" takes no key from a script; set auth.via to variable.`,
    )
  await leftovers.locked(() => leftovers.remember(home, [scriptFile]))
  const script = `#!/bin/sh\nprintf '%s' '${key.value.replaceAll("'", "'\\''")}'\n`
  await writeHomeFile({ home, path: scriptFile }, script, { user, mode: 0o700 })
  return {
    ...noAccess,
    access: { kind: 'script', path: posix.join(home, scriptFile) },
    secrets: () => [key],
    close: () => leftovers.forget(home),
  }
}

async function byLogin(place: AccessPlace, login: Login): Promise<OpenAccess> {
  const lent = await lendLogin(login.files, place)
  return {
    access: { kind: 'login' },
    variables: {},
    secrets: lent.secrets,
    returnLogin: lent.giveBack,
    async close() {
      await lent.giveBack()
      await place.leftovers.forget(place.sessionHome)
    },
  }
}
