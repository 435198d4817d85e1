import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type HostPath, hostPath, isBelow, pathIn, relativeTo, workspacePath } from '../../domain/base/path.ts'
import { type DirectoryHandle, inFolder } from '../../sandbox/files/directory-handle.ts'
import { type Step, type TreeEntry, walkTree } from '../../sandbox/files/walk-tree.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import { systemPath } from '../../sandbox/process/program.ts'
import { signal as endProcess } from '../../sandbox/process/tree.ts'
import { placeAt } from './same-place.ts'

// Our own search path may lead into a workspace: npm puts a project's packages first.
export const env = { PATH: systemPath }
const argumentsAtOnce = 500

export interface TreeToCopy {
  /** Left out: our own home may lie inside a workspace. */
  readonly without: string
  /** Folders of these names are left out too, wherever they lie. */
  readonly unread?: readonly string[] | undefined
  readonly signal: AbortSignal
  /** Told now and then, while it takes long, how many files and folders are there. */
  readonly onProgress?: ((entries: number) => void) | undefined
  /** 5 s if left out. */
  readonly toldEveryMs?: number | undefined
  readonly confine?: Sandbox['confine']
  /** What the folder was when it was looked at (`placeAt`). */
  readonly mark?: string | undefined
}

/**
 * By paths: nothing but `cp` keeps times to the nanosecond and shares blocks. `cp` may enter a link that is swapped in for a folder, by the agent of a run whose
 * workspace lies inside of this one or around it. So it sees no folder but this one.
 */
export async function copyTree(from: string, to: string, plan: TreeToCopy): Promise<void> {
  const mark = plan.mark ?? (await placeAt(from))
  const cp = async (args: readonly string[]) => {
    const command = ['cp', '-a', '--verbose', '--reflink=auto', ...args]
    const [file, ...rest] = await confined(command, { confine: plan.confine, from, mark, write: dirname(to) })
    await runCp(file!, rest, plan.signal, count)
  }
  const unread = plan.unread?.length ? await foldersNamed(plan.unread, from, plan.signal) : []
  const apart = [plan.without, ...unread].map(hostPath)
  const node = hostPath(dirname(realpathSync(process.execPath)))
  const count = counter(plan)

  const copyFolder = async (folder: HostPath, target: string): Promise<void> => {
    const { mode, names } = await inRealFolder(folder, async (opened) => ({
      mode: (await opened.stat()).mode & 0o777,
      names: await readdir(opened.at('.')),
    }))
    await mkdir(target, { mode })
    const whole: string[] = []
    for (const name of names) {
      const path = pathIn(folder, workspacePath(name))
      // What is shown of our home inside, the home of a session, needs the place.
      if (path === hostPath(plan.without)) await mkdir(join(target, name), { mode: 0o755 })
      else if (unread.includes(path)) {
        // Our own Node may lie in there, and what is shown of it inside needs the place.
        if (isBelow(path, node)) await mkdir(join(target, relativeTo(folder, node)!), { recursive: true, mode: 0o755 })
      } else if (apart.some((left) => isBelow(path, left))) await copyFolder(path, join(target, name))
      else whole.push(path)
    }
    for (let at = 0; at < whole.length; at += argumentsAtOnce)
      await cp(['--target-directory', target, '--', ...whole.slice(at, at + argumentsAtOnce)])
  }

  if (from === plan.without) await mkdir(to, { mode: 0o755 })
  else if (apart.some((left) => isBelow(hostPath(from), left))) await copyFolder(hostPath(from), to)
  else await cp(['--', from, to])
}

/**
 * A command that goes by paths, so that it sees nothing of the user's but the folder that was looked at, and does not begin where another one lies there by now: it may be exchanged
 * even while it is mounted. As it is where nothing can be confined. `also` is what else has to be read.
 */
export async function confined(
  command: readonly string[],
  {
    confine,
    from,
    mark,
    write,
    also = [],
  }: Pick<TreeToCopy, 'confine' | 'mark'> & { from: string; write: string; also?: readonly string[] },
): Promise<readonly string[]> {
  if (!confine) return command
  if (mark === undefined) throw new Error(`${from} is gone, or is a link by now`)
  return confine(['sh', '-c', onlyAt, 'sh', from, mark, ...command], { read: [from, ...also], write })
}

const onlyAt = `
[ "$(stat -c %d:%i -- "$1")" = "$2" ] || { echo "$1 was exchanged while it was copied" >&2; exit 1; }
shift 2
exec "$@"`

/** A line for each that is there says how far it has come. */
async function runCp(
  file: string,
  args: readonly string[],
  signal: AbortSignal,
  onLines: (lines: number) => void,
): Promise<void> {
  signal.throwIfAborted()
  // A bubblewrap that is killed early leaves its child waiting for it (0.8.0), so the whole process group is ended.
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const end = () => child.pid !== undefined && endProcess(-child.pid, 'SIGKILL')
  signal.addEventListener('abort', end, { once: true })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < 2_000) said += text
  })
  child.stdout.on('data', (bytes: Buffer) => {
    let lines = 0
    for (const byte of bytes) if (byte === 10) lines++
    onLines(lines)
  })
  const [code] = (await once(child, 'close').finally(() => signal.removeEventListener('abort', end))) as [number | null]
  signal.throwIfAborted()
  if (code !== 0) throw new Error(said.split('\n')[0] || 'cp was ended')
}

function counter({ onProgress, toldEveryMs = 5_000 }: TreeToCopy): (lines: number) => void {
  let entries = 0
  let toldAt = performance.now()
  return (lines) => {
    entries += lines
    if (performance.now() - toldAt < toldEveryMs) return
    toldAt = performance.now()
    onProgress?.(entries)
  }
}

async function foldersNamed(names: readonly string[], from: string, signal: AbortSignal): Promise<string[]> {
  const found: string[] = []
  const see = ({ name, path, stats }: TreeEntry): Step => {
    signal.throwIfAborted()
    if (!stats.isDirectory() || !names.includes(name)) return 'in'
    found.push(join(from, path))
    return 'past'
  }
  await inRealFolder(from, (root) => walkTree(root, see))
  return found
}

/** It may have been swapped for a link by whoever works around it or inside of it. */
async function inRealFolder<T>(path: string, use: (folder: DirectoryHandle) => Promise<T>): Promise<T> {
  const used = await inFolder(path, async (folder) => ({ value: await use(folder) }))
  if (!used) throw new Error(`${path} is gone, or is a link by now`)
  return used.value
}
