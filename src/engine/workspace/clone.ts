import { execFile } from 'node:child_process'
import { lstat, mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { hostPath, relativeTo } from '../../domain/base/path.ts'
import { messageOf, PawlError } from '../../domain/error.ts'
import { makeFolders } from '../../sandbox/files/make-folders.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import { systemPath } from '../../sandbox/process/program.ts'
import { writeFileDurably } from '../../store/durable-file.ts'
import type { CopyPlan } from './copy.ts'
import { neutralGit, ownerOf } from './git.ts'
import { settleLeft } from './settle-guard.ts'

export type ClonePlan = Omit<CopyPlan, 'owner' | 'fence' | 'signal'> & {
  readonly owner: AgentUser | undefined
  readonly signal?: AbortSignal | undefined
}

/** A clone of the user's repository that belongs to one task, on a branch of its own. Only what is committed is in it. */
export interface WorkspaceClone {
  readonly path: string
  readonly guardFile: string
  readonly branch: string
  readonly isNew: boolean
  /** Puts the branch into the repository that was cloned. Nothing there is overwritten: a branch of that name that went its own way is left as it is. */
  bringBranch(): Promise<{ readonly brought: true } | { readonly brought: false; readonly why: string }>
}

const Made = z.object({ original: z.string(), branch: z.string() })
const run = promisify(execFile)

/**
 * Made once for a task, and gone on with by its later runs. Objects are copied: what the agent does to a shared one it would do to the user's. The new
 * repository has no settings but git's own, so checking out asks no filter and runs no hook.
 */
export async function cloneWorkspace(plan: ClonePlan): Promise<WorkspaceClone> {
  const { original, folder, task, owner, signal } = plan
  const { directory, path, branch } = cloneOf(folder, task)
  const madeFile = join(directory, 'clone.json')
  const guardFile = join(directory, 'guard.json')
  const isNew = (await readMade(madeFile)) === undefined
  if (isNew) await make()
  else await settleLeft({ file: guardFile, home: plan.without, paths: plan.paths }, path)
  return {
    path,
    guardFile,
    branch,
    isNew,
    async bringBranch() {
      try {
        const args = [
          '--no-tags',
          '--no-write-fetch-head',
          '--no-recurse-submodules',
          '--',
          path,
          `refs/heads/${branch}:refs/heads/${branch}`,
        ]
        const as = await ownerOf(original)
        if (process.getuid?.() === 0 && as.uid !== 0)
          return { brought: false, why: `its user cannot read ${path}; take it with: git fetch ${path} ${branch}` }
        await neutralGit({ folder: original, verb: 'fetch', args, settings: await settingsFile() })
        return { brought: true }
      } catch (error) {
        return { brought: false, why: messageOf(error) }
      }
    },
  }

  async function make(): Promise<void> {
    if (!(await lstat(join(original, '.git')).catch(() => undefined)))
      throw new PawlError(
        'invalid',
        `The workspace ${original} is no git repository, so it cannot be cloned; use --workspace-mode copy.`,
      )
    const half = `${directory}.half`
    await removeTree(half)
    await removeTree(directory)
    await mkdir(half, { recursive: true, mode: 0o700 })
    const target = join(half, 'clone')
    const settings = await settingsFile()
    const args = ['--no-hardlinks', '--no-tags', '--template=', '--quiet', '--', original, target]
    await neutralGit({ folder: '/', verb: 'clone', args, settings, signal, timeoutMs: 600_000 })
    await neutralGit({ folder: target, verb: 'checkout', args: ['--quiet', '-b', branch], settings, signal })
    // What of our own home is shown inside, the home of a session, needs the place.
    const ours = relativeTo(hostPath(original), hostPath(plan.without))
    if (ours !== undefined && ours !== '.') await makePlace(target, ours, original)
    if (owner && process.getuid?.() === 0)
      await run('chown', ['-R', '-h', `${owner.uid}:${owner.gid}`, '--', target], {
        ...(signal ? { signal } : {}),
        env: { PATH: systemPath },
      })
    await rename(half, directory)
    await writeFileDurably(madeFile, JSON.stringify({ original, branch } satisfies z.infer<typeof Made>))
  }

  /** Git starts a second one to read the other repository, which is told by no argument; it reads this. */
  async function settingsFile(): Promise<string> {
    const file = join(folder, 'git.config')
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(file, '[safe]\n\tdirectory = *\n[core]\n\thooksPath = /dev/null\n\tfsmonitor = false\n[gc]\n\tauto = 0\n', {
      mode: 0o600,
    })
    return file
  }
}

/** What was committed may be a link, at this very path. */
async function makePlace(clone: string, path: string, original: string): Promise<void> {
  try {
    await (await makeFolders(await realpath(clone), path)).close()
  } catch (error) {
    throw new PawlError(
      'invalid',
      `The workspace ${original} cannot be cloned: where Pawl's home lies in it, ${path}, the last commit has something else than a folder. Remove that from the repository, or use --workspace-mode copy.`,
      { cause: error },
    )
  }
}

/** Where the clone of a task is, if it has one. `folder` is that of all workspaces. */
export function cloneOf(folder: string, task: string): { directory: string; path: string; branch: string } {
  const directory = join(folder, `${task}.clone`)
  return { directory, path: join(directory, 'clone'), branch: `pawl/${task}` }
}

async function readMade(file: string): Promise<z.infer<typeof Made> | undefined> {
  try {
    return Made.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch {
    // None, or half-written by a crash: then the clone is made anew.
    return undefined
  }
}
