import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chownSync, existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Clock, systemClock } from '../../base/clock.ts'
import { hostPath, inPlace } from '../../domain/base/path.ts'
import { messageOf, PawlError } from '../../domain/error.ts'
import { removeTree } from '../files/remove-tree.ts'
import { temporarySuffix } from '../files/temporary.ts'
import type { Sandbox, SandboxHealth, Walls } from '../port.ts'
import { agentUser } from '../process/agent-user.ts'
import { findProgram, systemPath } from '../process/program.ts'
import { freezableGroup, ownGroup } from './cgroup.ts'
import type { LaunchTools } from './command-line.ts'
import { agentIdentity, type Identity } from './identity.ts'
import { launch } from './launch.ts'
import { createMemoryWatch } from './memory-watch.ts'
import { createSpareDoors } from './spare-doors.ts'

const run = promisify(execFile)
const oldest = [0, 8] as const
/** Where programs and their libraries lie. */
const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/nix/store']

export interface BubblewrapOptions {
  /** Where `bwrap` and, for root, `unshare`, `mount` and `setpriv` are looked for. */
  readonly searchPath?: string
  /** Whom root's agents become. */
  readonly user?: Identity
  readonly clock?: Clock
}

/** Walls of Linux namespaces, built by bubblewrap. */
export function createBubblewrap(options: BubblewrapOptions = {}): Sandbox {
  const { searchPath = systemPath, user = agentUser, clock = systemClock } = options
  let health: Promise<SandboxHealth> | undefined
  let tools: Promise<LaunchTools> | undefined
  const memory = createMemoryWatch(clock)
  const findTools = async (): Promise<LaunchTools> => ({
    bwrap: await findProgram('bwrap', { path: searchPath, folder: '/' }),
    searchPath,
    clock,
    memory,
    group: ownGroup(),
    freezable: freezableGroup(),
    doors,
  })
  const foundTools = () => {
    tools ??= findTools()
    tools.catch(() => {
      tools = undefined
    })
    return tools
  }
  const doors = createSpareDoors(foundTools, clock)
  const sandbox: Sandbox = {
    name: 'bubblewrap',
    probe() {
      health ??= probe(sandbox, { searchPath, user, clock })
      return health
    },
    killUnit: (runId, fence) => ({ kind: 'pid_namespace', marker: `${runId}.${fence}`, enforced: true }),
    async launch(command, walls) {
      if (walls.door && typeof process.execve !== 'function') {
        throw new PawlError('unsupported', `Node ${process.version} cannot open a door in the walls; use Node 22.18 or newer.`)
      }
      return launch(command, walls, await foundTools())
    },
    confine: async (command, { read, write }) => [
      (await foundTools()).bwrap,
      ...systemFolders.flatMap((folder) => ['--ro-bind-try', folder, folder]),
      ...['--dev', '/dev'],
      ...read.flatMap((folder) => ['--ro-bind', folder, folder]),
      ...['--bind', write, write, '--unshare-net', '--unshare-pid', '--unshare-ipc', '--die-with-parent'],
      // Root copies other people's files as they are; anybody else has no rights beyond their own.
      ...(process.getuid?.() === 0 ? ['--cap-add', 'ALL'] : []),
      '--',
      ...command,
    ],
    ahead: {
      async start() {
        const { enforced, user: agents } = await sandbox.probe()
        if (!enforced) return
        const whose = agentIdentity({ user: agents })
        try {
          await doors.start(whose)
          // A kernel that lets us build walls may still not let us go back into a part of them.
          await tryWalls(sandbox, agents, clock)
          await doors.start(whose)
        } catch (error) {
          doors.stop()
          throw error
        }
      },
      stop: () => doors.stop(),
    },
  }
  return sandbox
}

async function probe(sandbox: Sandbox, { searchPath, user, clock }: Required<BubblewrapOptions>): Promise<SandboxHealth> {
  const no = (detail: string, fix?: string): SandboxHealth => ({
    available: false,
    enforced: false,
    detail,
    ...(fix ? { fix } : {}),
  })
  if (process.platform !== 'linux') return no(`Bubblewrap needs Linux; this is ${process.platform}.`)
  try {
    const file = await findProgram('bwrap', { path: searchPath, folder: '/' })
    const version = (await run(file, ['--version'])).stdout.trim().split(' ').at(-1) ?? ''
    const [major = 0, minor = 0] = version.split('.').map(Number)
    if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
      return no(`Bubblewrap ${version} at ${file} is too old; ${oldest.join('.')} is needed.`, 'apt-get install bubblewrap')
    }
    const isRoot = process.getuid?.() === 0
    await tryWalls(sandbox, isRoot ? user : undefined, clock)
    const memory = ownGroup() ? 'held by the kernel' : 'watched by Pawl, which was given no control group (cgroup v2) to divide'
    const detail = `bubblewrap ${version}${isRoot ? `; agents run as user ${user.uid}` : ''}; memory is ${memory}`
    return { available: true, enforced: true, detail, ...(isRoot ? { user } : {}) }
  } catch (error) {
    if (!(error instanceof PawlError)) return no(`The walls could not be tried: ${messageOf(error)}`)
    return no(error.message, fixFor(error.message))
  }
}

/** Builds the walls around a program that does nothing, door included. */
async function tryWalls(sandbox: Sandbox, user: Identity | undefined, clock: Clock): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), `pawl-probe${temporarySuffix()}-`))
  try {
    if (user) chownSync(directory, user.uid, user.gid)
    const walls: Walls = {
      unit: sandbox.killUnit(`probe-${randomUUID()}`, 0),
      workspace: inPlace(directory),
      home: hostPath(directory),
      hidden: [],
      user,
      network: 'none',
      door: true,
      limits: { processes: 64, openFiles: 256 },
    }
    const { child } = await sandbox.launch({ file: 'true', args: [], env: {} }, walls)
    child.stdout.destroy()
    child.stderr.destroy()
    const cancel = clock.after(5000, () => void child.stop({ graceMs: 0 }))
    const { code } = await child.exited
    cancel()
    await child.stop({ graceMs: 0 })
    if (code !== 0) throw new PawlError('unavailable', `A program inside the walls ended with code ${code}.`)
  } finally {
    await removeTree(directory)
  }
}

function fixFor(message: string): string | undefined {
  const missing = /program "(bwrap|unshare|mount|setpriv)" was not found/.exec(message)?.[1]
  if (missing) return missing === 'bwrap' ? 'apt-get install bubblewrap' : 'apt-get install util-linux'
  if (setting('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1') {
    return 'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0'
  }
  if (setting('/proc/sys/kernel/unprivileged_userns_clone') === '0') return 'sysctl -w kernel.unprivileged_userns_clone=1'
  if (setting('/proc/sys/user/max_user_namespaces') === '0') return 'sysctl -w user.max_user_namespaces=15000'
  if (/proc|Operation not permitted|namespace/i.test(message)) {
    return 'Allow user namespaces here: a container needs --security-opt seccomp=unconfined --security-opt systempaths=unconfined.'
  }
  return undefined
}

const setting = (path: string) => (existsSync(path) ? readFileSync(path, 'latin1').trim() : undefined)
