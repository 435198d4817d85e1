import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import type { WorkspaceEntry } from '../../gateway/recordings/format.ts'
import type { Redactor } from '../../redact/redactor.ts'
import { isAbsence, noFollow } from '../../sandbox/files/directory-handle.ts'
import { takingTurns } from '../base/turns.ts'
import { openWorkspace } from '../workspace/same-place.ts'
import type { RecordingFolder } from './folder.ts'
import { keepFile } from './keep-file.ts'

export interface KeptTree {
  readonly files: number
  readonly bytes: number
  readonly entries: WorkspaceEntry[]
  /** Why it was not kept. */
  readonly leftOut?: string | undefined
}

export interface KeepTreeOptions {
  readonly redactor: Pick<Redactor, 'stream'>
  readonly maxBytes: number
  readonly maxFiles?: number
  /** Our own home, which may lie inside. */
  readonly without: string
  readonly signal: AbortSignal
}

/** The handles on the way down stay open. */
const deepest = 200

class TooLarge extends Error {}

/** Keeps everything below a folder as it is now, repository included. Goes from handle to handle, so that no link leads out. */
export async function keepTree(root: string, folder: RecordingFolder, options: KeepTreeOptions): Promise<KeptTree> {
  const { redactor, maxBytes, maxFiles = 200_000, without, signal } = options
  const entries: WorkspaceEntry[] = []
  const turn = takingTurns()
  /** A name cannot be kept without its secret: other files, and links, are found by it. */
  const isSecret = (text: string) => {
    const given = Buffer.from(text)
    const hidden = redactor.stream()
    return !Buffer.concat([...hidden.write(given), hidden.end()]).equals(given)
  }
  let [files, bytes] = [0, 0]
  const count = async (read: number) => {
    bytes += read
    if (bytes > maxBytes)
      throw new TooLarge(`the workspace has more than ${Math.round(maxBytes / 1_000_000)} MB (recordings.maxMb)`)
    await turn()
    signal.throwIfAborted()
  }

  const walk = async (here: string, above: string, depth: number): Promise<void> => {
    for (const name of readdirSync(`${here}/.`)) {
      await count(0)
      if (name.includes('\ufffd') || `${root}/${above}${name}` === without || isSecret(`${above}${name}`)) continue
      const at = `${here}/${name}`
      const stat = lstatSync(at, { bigint: true, throwIfNoEntry: false })
      if (!stat) continue
      const entry = { path: `${above}${name}`, mode: Number(stat.mode) & 0o777, mtimeNs: String(stat.mtimeNs) }
      if (stat.isSymbolicLink()) {
        const target = targetOf(at)
        if (target !== undefined && !isSecret(target)) entries.push({ ...entry, kind: 'link', target })
      } else if (stat.isDirectory()) {
        const inside = depth < deepest ? opened(at, constants.O_DIRECTORY) : undefined
        if (inside === undefined) continue
        entries.push({ ...entry, kind: 'directory' })
        try {
          await walk(process.platform === 'linux' ? `/proc/self/fd/${inside}` : at, `${entry.path}/`, depth + 1)
        } finally {
          closeSync(inside)
        }
      } else if (stat.isFile()) {
        if (++files > maxFiles) throw new TooLarge(`the workspace has more than ${maxFiles} files`)
        const file = opened(at, constants.O_NONBLOCK)
        if (file === undefined) continue
        try {
          if (fstatSync(file).isFile())
            entries.push({ ...entry, kind: 'file', ...(await keepFile(file, folder, { redactor, count })) })
        } finally {
          closeSync(file)
        }
      }
    }
  }

  const top = await openWorkspace(root, without)
  if (!top) return { files: 0, bytes: 0, entries: [], leftOut: 'its folder is gone, or a link by now' }
  try {
    await walk(top.at('.'), '', 0)
    return { files, bytes, entries }
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error
    return { files: 0, bytes: 0, entries: [], leftOut: error.message }
  } finally {
    await top.close()
  }
}

/** Undefined if it is no link any more. */
function targetOf(at: string): string | undefined {
  try {
    return readlinkSync(at)
  } catch (error) {
    if (isAbsence(error) || (error as { code?: string }).code === 'EINVAL') return undefined
    throw error
  }
}

/** Undefined if it is not there any more, not of that kind, or not ours to read. */
function opened(at: string, kind: number): number | undefined {
  try {
    return openSync(at, constants.O_RDONLY | noFollow | kind)
  } catch (error) {
    if (isAbsence(error) || (error as { code?: string }).code === 'EACCES') return undefined
    throw error
  }
}
