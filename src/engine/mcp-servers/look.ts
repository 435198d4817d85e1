import { randomUUID } from 'node:crypto'
import { chown, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { type Log, silentLog } from '../../base/log.ts'
import type { McpServer } from '../../domain/agent/mcp-server.ts'
import { hostPath, sandboxPath } from '../../domain/base/path.ts'
import { messageOf, PawlError, unsupported } from '../../domain/error.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import type { Redactor } from '../../redact/redactor.ts'
import { networkAccess } from '../../sandbox/egress/access.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { temporarySuffix } from '../../sandbox/files/temporary.ts'
import { type LookAtServer, type ServerPlace, signInReason, type TokenKeeper } from '../../tools/servers/port.ts'
import type { RunServices } from '../base/run-services.ts'
import type { DoorVerbs } from '../endpoint/endpoint.ts'
import { readyMounts } from '../rights/mounts.ts'
import { wallsOf } from '../rights/walls.ts'
import type { ServerHealth } from './health.ts'
import { launchServer, type ServerWalls, unseenInside } from './launch.ts'
import { reachServer } from './reach.ts'
import { revealer } from './reveal.ts'

export interface LookParts extends Pick<RunServices, 'environment' | 'secretsFor' | 'wallsFor' | 'path' | 'codePaths'> {
  readonly home: string
  readonly clock: Clock
  readonly redactor: Redactor
  readonly health: ServerHealth
  readonly tokens: TokenKeeper
  readonly look: LookAtServer
  readonly log?: Log | undefined
  /** Aborts when Pawl stops. */
  readonly signal: AbortSignal
}

/** Looks at a server as a run with this profile would see it: a program is started inside its walls, in an empty folder. Never rejects; what was seen is stored. */
export async function lookAt(
  name: string,
  server: McpServer,
  profile: Profile,
  by: 'test' | 'start',
  parts: LookParts,
): Promise<void> {
  const begun = parts.clock.monotonic()
  const failed = (error: unknown) => {
    if (parts.signal.aborted) return
    const isSignIn = error instanceof PawlError && (error.details as { reason?: unknown } | undefined)?.reason === signInReason
    parts.health.failed(name, server, messageOf(error), isSignIn, by)
  }
  await inPlace(profile, parts, (place) =>
    parts.look(name, server, place, parts.signal).then(
      (seen) => parts.health.reached(name, server, { ...seen, tookMs: Math.round(parts.clock.monotonic() - begun) }, by),
      // While its secrets are still hidden: it may have said them.
      failed,
    ),
  ).catch(failed)
}

/** A folder, walls and a way out for the time of the work. */
export async function inPlace<T>(profile: Profile, parts: LookParts, work: (place: ServerPlace) => Promise<T>): Promise<T> {
  const { log = silentLog } = parts
  const { sandbox, health } = await parts.wallsFor(profile)
  const user = health.enforced ? health.user : undefined
  const root = await mkdtemp(join(parts.home, `look${temporarySuffix()}-`))
  const shown: (() => void)[] = []
  try {
    const [workspace, home] = [await mkdtemp(join(root, 'workspace-')), await mkdtemp(join(root, 'home-'))]
    if (user) for (const folder of [root, workspace, home]) await chown(folder, user.uid, user.gid)
    const { mounts, covered } = await readyMounts(profile, {
      ...{ ours: [parts.home], workspace, user, enforced: health.enforced },
      codePaths: parts.codePaths,
    })
    const id = randomUUID().slice(0, 8)
    let started = 0
    const unit = () => sandbox.killUnit(`look-${id}-${++started}`, 0)
    const inside: ServerWalls = {
      sandbox,
      walls: wallsOf(profile, {
        unit: unit(),
        workspace: { source: hostPath(workspace), path: sandboxPath(workspace) },
        home: hostPath(home),
        hidden: [hostPath(parts.home)],
        covered,
        user,
        enforced: health.enforced,
        mounts,
        masks: [],
      }),
      unit,
      path: parts.path,
      network: health.enforced && profile.network.allow.length > 0 ? wayOut(profile, log) : undefined,
      verbs: nobody,
      log,
    }
    return await work({
      launch: (command) => launchServer(command, inside),
      unseen: (paths) => unseenInside(paths, inside),
      reach: (url, { others }) => reachServer(url, { others, profile, log, record: () => undefined }),
      reveal: revealer(
        { agent: '', user: '' },
        { ...parts, hide: (secrets) => void shown.push(...secrets.map(({ name, value }) => parts.redactor.add(name, value))) },
      ),
      tokens: parts.tokens,
      workspace,
    })
  } finally {
    await removeTree(root)
    for (const forget of shown) forget()
  }
}

const wayOut = (profile: Profile, log: Log) =>
  networkAccess({
    profile: { ...profile, network: { ...profile.network, ask: [] } },
    baseUrl: undefined,
    hosts: [],
    questions: [],
    ask: async () => undefined,
    record: () => undefined,
    log,
  })

/** No run is under way, so nobody can be asked anything in its name. */
const noRun = (): never => {
  throw unsupported('No run is under way here: somebody only looks at the server.')
}
const nobody: DoorVerbs = { describe: noRun, ask: async () => noRun(), consult: async () => noRun(), notify: async () => noRun() }
