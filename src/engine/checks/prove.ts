import { chown, mkdir } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { hostPath, isInside } from '../../domain/base/path.ts'
import type { Secret } from '../../domain/base/secret-names.ts'
import type { NewEvent } from '../../domain/event/event.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import { mergeEnvironments } from '../../domain/profile/resolve.ts'
import type { Checks } from '../../domain/task/spec.ts'
import { writeHomeFile } from '../../sandbox/files/home-files.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import type { Sandbox, Walls } from '../../sandbox/port.ts'
import { findProgram } from '../../sandbox/process/program.ts'
import type { TaskRow } from '../../store/tables.ts'
import type { RunServices } from '../base/run-services.ts'
import type { ReadyMounts } from '../rights/mounts.ts'
import { megabyte, wallsOf } from '../rights/walls.ts'
import { watchDisk } from '../workspace/disk-watch.ts'
import { gitInside, sessionGitConfig } from '../workspace/git.ts'
import { guardWorkspace } from '../workspace/guard.ts'
import type { Settled } from '../workspace/settle-guard.ts'
import { type TreeHash, treeHash } from '../workspace/tree-hash.ts'
import type { PreparedWorkspace } from '../workspace/workspace.ts'
import { type ChecksResult, runChecks } from './run-checks.ts'

export type ProveParts = Pick<
  RunServices,
  'home' | 'userHome' | 'path' | 'environment' | 'userEnvironment' | 'secretsFor' | 'redactor' | 'clock' | 'codePaths'
>

/** Where the work is, and the walls that it was done in. */
export interface Site {
  readonly profile: Profile
  readonly sandbox: Sandbox
  readonly enforced: boolean
  readonly user: Walls['user']
  readonly unit: Walls['unit']
  readonly workspace: Pick<PreparedWorkspace, 'source' | 'path' | 'guardFile' | 'mode' | 'mark'>
  readonly mounts: Pick<ReadyMounts, 'mounts' | 'covered' | 'sources'>
  /** The home of the session, for checks that are to see it. */
  readonly home: string
  /** A folder of ours for what is kept. */
  readonly records: string
}

export interface Proving {
  /** Names what guards the workspace meanwhile. */
  readonly id: string
  readonly task: Pick<TaskRow, 'agent' | 'user_name'>
  readonly checks: Checks
  readonly signal: AbortSignal
  readonly emit: (event: NewEvent) => unknown
  readonly hide: (secrets: readonly Secret[]) => void
  /** False as soon as somebody else has the task: then the tree is theirs to put in order. */
  readonly isOurs: () => Promise<boolean>
  readonly onDiskLimit: (message: string) => void
  /** True while nothing may run for the task. */
  readonly isHeld?: (() => boolean) | undefined
}

/**
 * Runs the checks of a task where its agent worked, when that is dead: in the same walls, with a home that is empty, no way out, and programs that do not lie in the
 * workspace. What is checked was written by the agent, so the workspace is guarded once more, and looked through once more at the end. Rejects if it is stopped.
 */
export async function proveWork(parts: ProveParts, site: Site, proving: Proving): Promise<ChecksResult & { settled: Settled }> {
  const { profile, sandbox, enforced, user, workspace, records } = site
  const { checks, signal } = proving
  const guard = await guardWorkspace({
    run: proving.id,
    home: parts.home,
    workspace,
    paths: parts.codePaths,
    own: [],
    given: site.mounts.sources,
    profile,
    enforced,
    user,
    records: join(records, 'checks'),
  })
  const home = checks.home === 'session' ? site.home : checkHome(records)
  let stopWatchingDisk: (() => void) | undefined
  try {
    if (home !== site.home) await makeHome(home, parts, site)
    const walls = wallsOf(profile, {
      unit: site.unit,
      workspace: { source: workspace.source, path: workspace.path, mark: workspace.mark },
      home: hostPath(home),
      hidden: [hostPath(parts.home)],
      covered: [...site.mounts.covered, ...guard.covered],
      user,
      enforced,
      mounts: [...site.mounts.mounts, ...guard.mounts],
      masks: guard.masks,
    })
    stopWatchingDisk = watchDisk({
      folders: [workspace.source, home, ...guard.folders],
      mostBytes: profile.limits.diskMb * megabyte,
      clock: parts.clock,
      onLimit: proving.onDiskLimit,
    })
    const env = await environmentOf(parts, site, proving)
    const git = (args: readonly string[]) => gitInside(sandbox, walls, env.PATH, args)
    const hashTree = () => treeHash(workspace.source, { home: parts.home, git, signal })
    const result = await runChecks({
      commands: checks.commands,
      clock: parts.clock,
      redactor: parts.redactor,
      signal,
      folder: records,
      emit: proving.emit,
      isHeld: proving.isHeld,
      hashTree,
      async launch({ file, args }) {
        const found = await findProgram(file, { path: env.PATH, folder: workspace.source })
        return (await sandbox.launch({ file: found, args, env }, { ...walls, door: false })).child
      },
    })
    const settled = await guard.settle()
    // What the checks themselves planted is out of the tree, which is therefore another one.
    return settled.quarantined.length > 0 ? { ...boundTo(await hashTree(), result), settled } : { ...result, settled }
  } catch (error) {
    await ((await proving.isOurs()) ? guard.settle() : guard.release())
    throw error
  } finally {
    stopWatchingDisk?.()
    await guard.drop()
    if (home !== site.home) await removeTree(home)
  }
}

function boundTo(tree: TreeHash, result: ChecksResult): ChecksResult {
  const ran = result.ran.map((check, i) => (i === result.ran.length - 1 ? { ...check, tree: tree.hash } : check))
  return { ...result, ran, tree, passed: result.failed.length === 0 && tree.hash !== null }
}

/** HOME of the checks of a run, for as long as they run. */
export const checkHome = (records: string) => join(records, 'check-home')

/** What the agent left in the session's home would be obeyed there: settings of its package manager, say, that make every test pass. */
async function makeHome(home: string, { userHome }: ProveParts, { user, workspace }: Site): Promise<void> {
  await removeTree(home)
  await mkdir(home, { recursive: true, mode: 0o700 })
  if (user) await chown(home, user.uid, user.gid)
  await writeHomeFile({ home, path: '.gitconfig' }, await sessionGitConfig(userHome, workspace.path), { user })
}

/** As the tools of a run have it: what lets the agent's program in at its model is no business of a check. */
async function environmentOf(
  parts: ProveParts,
  { profile, workspace, home }: Site,
  { task, hide }: Proving,
): Promise<Record<string, string> & { PATH: string }> {
  const settings = mergeEnvironments(profile.env, parts.userEnvironment(task.user_name))
  const secrets = await parts.secretsFor(profile.secrets, { agent: task.agent, user: task.user_name })
  hide(secrets)
  const env = {
    CI: 'true',
    ...parts.environment(settings.pass),
    ...settings.set,
    ...Object.fromEntries(secrets.map(({ variable, value }) => [variable, value])),
  }
  const path = (settings.set.PATH ?? parts.path).split(delimiter)
  return { ...env, PATH: outsideOf([workspace.path, workspace.source, home], path).join(delimiter) }
}

/** A program that the agent has put into its workspace is not found by its name alone. */
export const outsideOf = (folders: readonly string[], path: readonly string[]) =>
  path.filter((one) => isAbsolute(one) && !folders.some((folder) => isInside(hostPath(folder), hostPath(one))))
