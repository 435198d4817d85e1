import { realpathSync } from 'node:fs'
import { release } from 'node:os'
import type { Command } from '../../agent.ts'
import type { Clock } from '../../clock.ts'
import { PawlError } from '../../domain/error.ts'
import { findProgram, realPath } from '../../process/program.ts'
import type { Walls } from '../../sandbox.ts'
import { freshEnvironment } from '../environment.ts'
import { dropTo, noDrop } from './drop.ts'
import { hasLeakingDescriptors, initSource, keptName } from './init.ts'
import { type Identity, isVisible, type Mount, mayExecute, planMounts, temporary } from './mounts.ts'

export interface LaunchTools {
  readonly bwrap: string
  /** Where the programs of the system are found. */
  readonly searchPath: string
  /** The `env` that can reset ignored signals, if there is one. */
  readonly resetSignals: string | undefined
  readonly clock: Clock
}

/** Descriptors of the outermost process; none of them reaches the agent. */
export const fds = { channel: 3, args: 4 } as const

/**
 * The first program inside. Sets the limits, tells us that the walls stand and waits for our answer, unless that is left to our init.
 * A limit that is above what we have ourselves is refused, and the lower one stays.
 */
const insideScript = `
ulimit -n "$1" 2>/dev/null
[ "$2" = 0 ] || ulimit -p "$2" 2>/dev/null || ulimit -u "$2" 2>/dev/null
[ "$3" = door ] || { echo >&3; read -r answer <&3 || exit 1; exec 3>&-; }
shift 3
exec "$@"
`

/** The command line of the outermost process, and the options that bubblewrap reads from a descriptor. */
export async function commandLine(
  command: Command,
  walls: Walls,
  tools: LaunchTools,
): Promise<{ file: string; args: string[]; options: string[] }> {
  const user = agentUser(walls)
  const workspace = { source: realPath(walls.workspace.source, 'workspace'), path: realPath(walls.workspace.path, 'workspace') }
  const home = realPath(walls.home, 'session home')
  const env = freshEnvironment(command, { ...walls, home })
  const named = await findProgram(command.file, { path: env.PATH ?? '', folder: workspace.source })
  const real = realpathSync(named)
  if (!mayExecute(real, user)) {
    throw new PawlError(
      'unavailable',
      `The program "${real}" may not be executed by user ${user.uid}, as whom agents run; chmod it to 755.`,
    )
  }
  const program = seenFrom(workspace, real)
  const node = realpathSync(process.execPath)
  const request = { user, writable: [workspace, { source: home, path: home }], programs: [program, node] }
  const sources = planMounts({ ...request, hidden: walls.hidden }).flatMap((mount) => ('source' in mount ? [mount.source] : []))
  const drop = process.getuid?.() === 0 ? await dropTo(user, sources, tools.searchPath) : noDrop
  const mounts = planMounts({ ...request, hidden: [...walls.hidden, ...drop.hidden] })

  // A link may lie where the agent cannot see it; what it points to is certainly there.
  const agent = [isVisible(seenFrom(workspace, named), mounts, user) ? seenFrom(workspace, named) : program, ...command.args]
  const needsInit = walls.door || hasLeakingDescriptors()
  const resets = tools.resetSignals !== undefined && !agent[0]?.includes('=')
  const mode = walls.door ? 'door' : 'plain'
  const init = [node, '--no-warnings', '--eval', initSource, '--', mode, resets ? tools.resetSignals : '']
  const inside = needsInit ? [...init, ...agent] : agent
  const limits = [String(walls.limits.openFiles), countsProcessesPerWalls() ? String(walls.limits.processes) : '0']

  const options = [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(walls.network === 'none' ? ['--unshare-net'] : []),
    ...['--die-with-parent', '--new-session'],
    ...['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev'],
    ...mounts.flatMap((mount) => mountOptions(mount, drop.sourceOf)),
    ...mounts.flatMap((mount) => (mount.kind === 'empty' && mount.path !== temporary() ? ['--remount-ro', mount.path] : [])),
    ...['--chdir', workspace.path],
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', needsInit ? keptName(name) : name, value]),
  ]
  // Options are separated by NUL, so one inside a value would make options of our own out of somebody's text.
  if (options.some((option) => option.includes('\0'))) {
    throw new PawlError('invalid', `A path or variable for "${command.file}" contains a NUL character; remove it.`)
  }
  const script = ['/bin/sh', '-c', insideScript, 'sh', ...limits, mode]
  const [file, ...args] = [...drop.words, tools.bwrap, '--args', String(fds.args), '--', ...script, ...inside]
  return { file: file as string, args, options }
}

/** A path below the workspace's files, as it is seen inside. */
const seenFrom = (workspace: { source: string; path: string }, path: string) =>
  path.startsWith(`${workspace.source}/`) ? workspace.path + path.slice(workspace.source.length) : path

function agentUser(walls: Walls): Identity {
  const own = { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 }
  const user = walls.user ?? own
  if (user.uid === 0)
    throw new PawlError('denied', 'An agent is never run as root behind walls; name an unprivileged user to become.')
  if (own.uid !== 0 && user.uid !== own.uid) {
    throw new PawlError('denied', `Only root can run agents as user ${user.uid}; this process is user ${own.uid}.`)
  }
  return user
}

function mountOptions(mount: Mount, sourceOf: (path: string) => string): string[] {
  switch (mount.kind) {
    case 'writable':
      return ['--bind', sourceOf(mount.source), mount.path]
    case 'readable':
      return ['--ro-bind', sourceOf(mount.source), mount.path]
    case 'empty':
      return ['--perms', mount.path === temporary() ? '1777' : '0755', '--tmpfs', mount.path]
    case 'emptyFile':
      return ['--ro-bind', '/dev/null', mount.path]
  }
}

/** Since Linux 5.14 the limit of processes counts within a user namespace; before, it counted all processes of the user anywhere. */
function countsProcessesPerWalls(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return major > 5 || (major === 5 && minor >= 14)
}
