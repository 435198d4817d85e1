import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Clock } from '../../base/clock.ts'
import { hostPath, inPlace } from '../../domain/base/path.ts'
import { messageOf } from '../../domain/error.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import { decide, readRules } from '../../sandbox/egress/host-rule.ts'
import type { Sandbox, Walled, Walls } from '../../sandbox/port.ts'
import { serveDoor } from '../endpoint/endpoint.ts'
import { type Bait, baitFolder, layBait } from './bait.ts'
import { type Canary, canaries, canaryNames } from './canaries.ts'
import { nodeSource, perlSource, shellSource } from './probe-source.ts'

/** What came of trying to get out of the walls of one profile. */
export interface SelfTest {
  /** Everything could be tried that can be tried here, and nothing got out. Otherwise no sandboxed work may start. */
  readonly passed: boolean
  readonly escaped: readonly { readonly canary: Canary; readonly sentence: string }[]
  /** What could not be tried on this machine. It keeps nobody from working. */
  readonly untested: readonly { readonly canary: Canary; readonly why: string }[]
  /** Why nothing can be said at all. */
  readonly failure: string | undefined
  /** Wall time, in epoch milliseconds. */
  readonly at: number
  readonly ms: number
}

export interface SelfTestOptions {
  readonly sandbox: Sandbox
  readonly profile: Profile
  /** The walls that a run with this profile gets, around other places. They must have a door where runs have one. */
  walls(place: SelfTestPlace): Walls
  /** Pawl's own home. The bait is laid in there, because no agent may see it. */
  readonly home: string
  readonly user: { readonly uid: number; readonly gid: number } | undefined
  readonly clock: Clock
}

export type SelfTestPlace = Pick<Walls, 'unit' | 'workspace' | 'home'>

/** Generous: a machine under load must not look like a hole. */
const patienceMs = 20_000

/** Tries all canaries, in one program, inside the very walls of a profile. Answers, never throws. */
export async function selfTest(options: SelfTestOptions): Promise<SelfTest> {
  const { clock, home, user } = options
  const [at, began] = [clock.now(), clock.monotonic()]
  const answer = (found: Pick<SelfTest, 'escaped' | 'untested' | 'failure'>): SelfTest => ({
    passed: found.escaped.length === 0 && found.failure === undefined,
    ...found,
    at,
    ms: Math.round(clock.monotonic() - began),
  })
  let bait: Bait | undefined
  try {
    bait = await layBait(join(baitFolder(home), randomUUID().slice(0, 8)), user)
    const told = await probe(bait, options)
    return answer({ ...judge(told, bait, options.profile), failure: undefined })
  } catch (error) {
    return answer({ escaped: [], untested: [], failure: `The walls could not be tried: ${messageOf(error)}` })
  } finally {
    await bait?.remove()
  }
}

interface Told {
  readonly escaped: Readonly<Record<string, string>>
  readonly held: Readonly<Record<string, string>>
  readonly untested: Readonly<Record<string, string>>
  /** Does each kind of act work where it is allowed? */
  readonly works: Readonly<Record<string, boolean>>
}

async function probe(bait: Bait, { sandbox, walls, profile, clock }: SelfTestOptions): Promise<Told> {
  const variable = 'PAWL_SELF_TEST'
  const place = {
    unit: sandbox.killUnit(`self-test-${randomUUID()}`, 0),
    workspace: inPlace(bait.workspace),
    home: hostPath(bait.home),
  }
  const built = walls(place)
  const known = [
    variable,
    'PATH',
    'HOME',
    'LANG',
    'TERM',
    'TMPDIR',
    'PAWL_KILL_UNIT',
    'PAWL_DOOR_URL',
    'PWD',
    'OLDPWD',
    'SHLVL',
    '_',
  ]
  const told = { ...bait.told, variable, variables: known, door: built.door, nested: built.nestedNamespaces === true }
  const args = ['-c', shellSource, 'sh', process.execPath, nodeSource, perlSource, JSON.stringify(told)]
  const walled = await sandbox.launch({ file: 'sh', args, env: { [variable]: 'given' } }, built)
  const { child } = walled
  const cancel = clock.after(patienceMs, () => void child.stop({ graceMs: 0 }))
  const close = serveWayOut(walled, profile)
  try {
    child.stdin.end()
    const [said, complaint] = await Promise.all([text(child.stdout), text(child.stderr)])
    if (!said.endsWith('}\n'))
      throw new Error(`the probe ended too early: ${complaint.trim().slice(0, 300) || said.slice(0, 300)}`)
    return JSON.parse(said) as Told
  } finally {
    cancel()
    await child.stop({ graceMs: 0 })
    await close()
  }
}

/** The door as a run has it, with the profile's own rules. */
function serveWayOut({ door }: Walled, profile: Profile): () => Promise<void> {
  if (!door) return async () => undefined
  const served = serveDoor(door.server, { token: randomUUID() })
  const refuse = async () => Promise.reject(new Error('nobody is asked during a self-test'))
  const network = { profile: profile.name, rules: readRules(profile.network), ask: refuse, record: () => undefined }
  const verbs = { ask: refuse, consult: refuse, notify: async () => undefined }
  void served.bind({ describe: () => ({ task: '', run: '', attempt: 0 }), ...verbs, network })
  return () => served.close()
}

function judge({ escaped, held, untested, works }: Told, bait: Bait, profile: Profile): Pick<SelfTest, 'escaped' | 'untested'> {
  const idle = Object.entries(works).filter(([, isWorking]) => !isWorking)
  if (idle.length > 0) throw new Error(`what is allowed does not work inside either: ${idle.map(([name]) => name).join(', ')}.`)
  const { made, connections } = bait.seen()
  const how: Record<string, string> = { ...escaped, ...(made ? { write: bait.told.made } : {}) }
  if (connections > 0 && !how.connect && !how.relay && !how['unix socket']) how.connect = `${connections} connections arrived`
  const why: Record<string, string> = { ...untested }
  // Somebody whose profile allows this machine's own servers wants it so.
  if (how.relay && decide(readRules(profile.network), '127.0.0.1', bait.told.port).verdict === 'allow') {
    delete how.relay
    why.relay = "the profile allows this machine's own servers"
  }
  const silent = canaryNames.filter((name) => !(name in how) && !(name in held) && !(name in why))
  if (silent.length > 0) throw new Error(`nothing was heard of ${silent.join(', ')}.`)
  return {
    escaped: canaryNames
      .filter((name) => name in how)
      .map((canary) => ({ canary, sentence: `${canaries[canary]} (${how[canary]})` })),
    untested: canaryNames.filter((name) => !(name in how) && name in why).map((canary) => ({ canary, why: why[canary] ?? '' })),
  }
}
