import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { type HostPath, hostPath, type SandboxPath, type Shown, sameInside, sandboxPath, seenAt } from '../../domain/base/path.ts'
import { PawlError } from '../../domain/error.ts'
import { freshEnvironment } from '../environment.ts'
import { nameDoor, type OpenDoor } from '../open-door.ts'
import type { Command, Walls } from '../port.ts'
import { leakingDescriptors } from '../process/descriptors.ts'
import { findProgram, realPath } from '../process/program.ts'
import { agentIdentity, mayExecute } from './identity.ts'
import { fds, initSource, isObeyedEarly, keptName } from './init.ts'
import { limiting } from './limits.ts'
import type { MemoryWatch } from './memory-watch.ts'
import type { MountTable } from './mount-table.ts'
import type { Expected } from './mounted.ts'
import { isVisible } from './mounts.ts'
import { interpretersOf } from './programs.ts'
import { seccompFilter } from './seccomp/filter.ts'
import { isSpare, type SpareDoor, type SpareDoors } from './spare-doors.ts'
import { type View, viewFor } from './view.ts'

export interface LaunchTools {
  readonly bwrap: string
  /** Where the programs of the system are found. */
  readonly searchPath: string
  readonly clock: Clock
  readonly memory: MemoryWatch
  /** The control group below which the kernel keeps accounts for us, if there is one. */
  readonly group: string | undefined
  /** The one below which we may make groups to freeze. */
  readonly freezable: string | undefined
  readonly doors: Pick<SpareDoors, 'take'>
}

/** Bubblewrap's own limit is 9000, with its command. */
const mostOptions = 8_900

export interface CommandLine {
  readonly file: string
  readonly args: readonly string[]
  /** What bubblewrap reads from a descriptor. */
  readonly options: readonly string[]
  readonly seccomp: Buffer
  /** Folders inside that lie in memory. */
  readonly rooms: readonly string[]
  /** Must lie there while the walls are built. */
  readonly table: MountTable | undefined
  /** Must have been mounted when the walls stand. */
  readonly expected: readonly Expected[]
}

/** The command line of the outermost process, and what bubblewrap reads from descriptors. A door whose address is not given is opened inside. */
export async function commandLine(
  command: Command,
  walls: Walls,
  tools: LaunchTools & { readonly door?: OpenDoor | undefined },
): Promise<CommandLine> {
  const user = agentIdentity(walls)
  const workspace = {
    source: realPath(walls.workspace.source, 'workspace'),
    path: sandboxPath(realPath(walls.workspace.path, 'workspace')),
  }
  const home = realPath(walls.home, 'session home')
  const fresh = { args: command.args, env: freshEnvironment(command, { ...walls, home }) }
  const { args, env } = tools.door ? nameDoor(fresh, tools.door.url) : fresh
  const named = await findProgram(command.file, { path: env.PATH ?? '', folder: workspace.source })
  const real = hostPath(realpathSync(named))
  if (!mayExecute(real, user)) {
    throw new PawlError(
      'unavailable',
      `The program "${real}" may not be executed by user ${user.uid}, as whom agents run; chmod it to 755.`,
    )
  }
  const program = seenFrom(workspace, real)
  const node = sandboxPath(realpathSync(process.execPath))
  const started = (command.programs ?? []).map((file) => hostPath(realpathSync(file)))
  const programs = [
    program,
    node,
    ...[real, ...started].flatMap(interpretersOf).map(sameInside),
    ...started.map((file) => seenFrom(workspace, file)),
  ]
  const view = await viewFor({ walls, user, workspace, home, programs, searchPath: tools.searchPath, clock: tools.clock })

  // By its link where there is one: some programs are many, and look at the name they were called by. But a link may lie where the agent
  // cannot see it; what it leads to is certainly there.
  const links = linksTo(named).map((path) => seenFrom(workspace, path))
  const agent = [links.every((path) => isVisible(path, view.mounts, user)) ? (links[0] ?? program) : program, ...args]
  const opensDoor = walls.door && !tools.door
  const spare = isSpare(tools.door) ? tools.door : undefined
  const needsInit = opensDoor || leakingDescriptors().length > 0 || Object.keys(env).some(isObeyedEarly)
  const mode = opensDoor ? 'door' : 'plain'
  const init = [node, '--no-warnings', '--eval', initSource, '--', mode]
  const inside = [...limiting(walls.limits, mode), ...(needsInit ? [...init, ...agent] : agent)] as string[]
  const variables = Object.entries(env).map(([name, value]) => [needsInit ? keptName(name) : name, value] as const)
  const options = wallOptions({ walls, view, folder: workspace.path, variables, hasNetwork: spare !== undefined })
  // Options are separated by NUL, so one inside a value would make options of our own out of somebody's text.
  if (options.some((option) => option.includes('\0'))) {
    throw new PawlError('invalid', `A path or variable for "${command.file}" contains a NUL character; remove it.`)
  }
  if (options.length > mostOptions) {
    throw new PawlError(
      'invalid',
      `The walls around "${command.file}" would have ${view.mounts.length} mounts and masks, more than bubblewrap can lay; name fewer.`,
    )
  }
  const [file, ...rest] = [...view.drop.words, ...entering(spare), tools.bwrap, '--args', String(fds.args), '--', ...inside]
  return {
    file: file as string,
    args: rest,
    options,
    seccomp: seccompFilter({ nestedNamespaces: walls.nestedNamespaces ?? false }),
    rooms: view.rooms,
    table: view.drop.table,
    expected: view.expected,
  }
}

interface WallOptions {
  readonly walls: Walls
  readonly view: View
  readonly folder: string
  readonly variables: readonly (readonly [string, string])[]
  /** Are we in the network of these walls already? */
  readonly hasNetwork: boolean
}

/** As the user whom agents become: the namespaces are that user's own. */
const entering = (spare: SpareDoor | undefined) =>
  spare
    ? [spare.nsenter, '--preserve-credentials', `--user=/proc/self/fd/${fds.user}`, `--net=/proc/self/fd/${fds.network}`, '--']
    : []

function wallOptions({ walls, view, folder, variables, hasNetwork }: WallOptions): string[] {
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(walls.network === 'none' && !hasNetwork ? ['--unshare-net'] : []),
    // The one name that every machine can resolve.
    ...['--hostname', 'localhost', '--cap-drop', 'ALL', '--die-with-parent', '--new-session'],
    ...['--seccomp', String(fds.seccomp)],
    ...view.options,
    ...['--chdir', folder],
    ...variables.flatMap(([name, value]) => ['--setenv', name, value]),
  ]
}

/** What lies in the workspace is seen there; all else that is shown, at its own path. */
const seenFrom = (workspace: Shown, path: HostPath): SandboxPath => seenAt(workspace, path) ?? sameInside(path)

/** The path and every one that it leads to as a link, each by the real path of its directory. */
function linksTo(path: string): HostPath[] {
  const at = hostPath(join(realpathSync(dirname(path)), basename(path)))
  return lstatSync(at).isSymbolicLink() ? [at, ...linksTo(resolve(dirname(at), readlinkSync(at)))] : [at]
}
