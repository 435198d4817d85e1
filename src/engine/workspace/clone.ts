import { execFile } from 'node:child_process'
import { lstat, mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { type HostPath, hostPath, pathIn, relativeTo, sameInside, workspacePath } from '../../domain/base/path.ts'
import { messageOf, PawlError } from '../../domain/error.ts'
import { makeFolders } from '../../sandbox/files/make-folders.ts'
import { readRegularAt } from '../../sandbox/files/read-file.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { temporarySuffix } from '../../sandbox/files/temporary.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import { systemPath } from '../../sandbox/process/program.ts'
import { writeFileDurably } from '../../store/durable-file.ts'
import { mostCodeBytes } from './capture.ts'
import type { CopyPlan } from './copy.ts'
import { confined } from './copy-tree.ts'
import { neutralGit, ownerOf } from './git.ts'
import { cleanGitConfig, worktreeOf } from './git-config.ts'
import { linkedRepository } from './linked-repository.ts'
import { placeAt } from './same-place.ts'
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
/** Who puts something into a log of references is otherwise asked of the machine, of which nothing is seen. */
const committer = { GIT_COMMITTER_NAME: 'Pawl', GIT_COMMITTER_EMAIL: 'pawl@localhost' }

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
        const also = await elsewhere(hostPath(original))
        const settings = await settingsFile(folder)
        const mark = plan.mark ?? (await placeAt(original))
        const confine = (command: readonly string[]) =>
          confined(command, { confine: plan.confine, from: original, mark, write: original, also: [path, settings, ...also] })
        // A repository that lies elsewhere names this folder, and git has to write there.
        const isHere = (await lstat(join(original, '.git'))).isDirectory()
        await neutralGit({ folder: original, verb: 'fetch', args, env: committer, settings, ...(isHere ? { confine } : {}) })
        return { brought: true }
      } catch (error) {
        return { brought: false, why: messageOf(error) }
      }
    },
  }

  async function make(): Promise<void> {
    const mark = plan.mark ?? (await placeAt(original))
    const also = await elsewhere(hostPath(original))
    const half = `${directory}${temporarySuffix()}`
    await removeTree(directory)
    try {
      await mkdir(half, { recursive: true, mode: 0o700 })
      const target = join(half, 'clone')
      const settings = await settingsFile(half)
      const args = ['--no-hardlinks', '--no-tags', '--template=', '--quiet', '--', original, target]
      const confine = (command: readonly string[]) =>
        confined(command, { confine: plan.confine, from: original, mark, write: half, also })
      await neutralGit({ folder: '/', verb: 'clone', args, env: committer, settings, signal, timeoutMs: 600_000, confine })
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
    } catch (error) {
      await removeTree(half)
      throw error
    }
    await writeFileDurably(madeFile, JSON.stringify({ original, branch } satisfies z.infer<typeof Made>))
  }

  /** Git starts a second one to read the other repository, which is told by no argument; it reads this. */
  async function settingsFile(where: string): Promise<string> {
    const file = join(where, 'git.config')
    await mkdir(where, { recursive: true, mode: 0o700 })
    await writeFile(file, '[safe]\n\tdirectory = *\n[core]\n\thooksPath = /dev/null\n\tfsmonitor = false\n[gc]\n\tauto = 0\n', {
      mode: 0o600,
    })
    return file
  }
}

/**
 * What git has to read beside the folder that it clones: the repository, where that lies elsewhere, and the objects that it borrows. Anybody can write `gitdir: /somewhere` into
 * a `.git`, so a repository counts only if it names the folder in its turn; a link and a `commondir` name none.
 */
async function elsewhere(original: HostPath): Promise<HostPath[]> {
  const dotGit = pathIn(original, workspacePath('.git'))
  const found = await lstat(dotGit).catch(() => undefined)
  if (!found)
    throw new PawlError(
      'invalid',
      `The workspace ${original} is no git repository, so it cannot be cloned; use --workspace-mode copy.`,
    )
  const refuse = (why: string) =>
    new PawlError('invalid', `The workspace ${original} cannot be cloned: ${why}; use --workspace-mode copy.`)
  if (found.isSymbolicLink()) throw refuse('its ".git" is a link')
  if (found.isDirectory()) {
    if (await lstat(join(dotGit, 'commondir')).catch(() => undefined)) throw refuse('its ".git" names another repository')
    return borrowedBy(dotGit)
  }
  const linked = await linkedRepository({ source: original, path: sameInside(original) })
  if (linked && !('note' in linked)) return [linked.common, ...(await borrowedBy(linked.common))]
  const named = /^gitdir: ([^\n\0]+)\n?$/.exec((await readRegularAt(dotGit, 8_192))?.toString('utf8') ?? '')?.[1]
  const module = named === undefined ? undefined : hostPath(resolve(original, named))
  // As that of a submodule does.
  const settings = module && (await readRegularAt(join(module, 'config'), mostCodeBytes))?.toString('utf8')
  const tree = settings && worktreeOf(cleanGitConfig(settings).text)
  const isMutual = tree !== undefined && module !== undefined && resolve(module, tree) === original
  if (!isMutual) throw refuse('the repository that its ".git" names does not name it')
  return [module, ...(await borrowedBy(module))]
}

/** Git follows no more of them either. */
const mostBorrowed = 5

/** Where a repository finds objects that it does not have itself. */
async function borrowedBy(gitdir: HostPath): Promise<HostPath[]> {
  const folders: HostPath[] = []
  const wanted = [join(gitdir, 'objects')]
  for (let objects = wanted.shift(); objects !== undefined && folders.length < mostBorrowed; objects = wanted.shift()) {
    const text = (await readRegularAt(join(objects, 'info/alternates'), mostCodeBytes))?.toString('utf8') ?? ''
    for (const line of text.split('\n')) {
      const folder = line === '' || line.startsWith('#') ? undefined : hostPath(resolve(objects, line))
      if (folder === undefined || basename(folder) !== 'objects' || (await placeAt(folder)) === undefined) continue
      folders.push(folder)
      wanted.push(folder)
    }
  }
  return folders
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
