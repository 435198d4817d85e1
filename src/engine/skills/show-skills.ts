import { createHash } from 'node:crypto'
import { chmod, mkdir, readdir, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { temporarySuffix } from '../../sandbox/files/temporary.ts'
import type { FoundSkill } from './find-skills.ts'

export interface ShownSkills {
  /** Holds `skills/NAME` and `scripts/NAME`. */
  readonly folder: string
  readonly digest: string
}

/**
 * A copy that stays as it is, named by what it holds: runs side by side share it, whoever changes a skill changes no run that is under way, and agents of another
 * user can read it.
 */
export async function showSkills(home: string, skills: readonly FoundSkill[], nowMs: number): Promise<ShownSkills> {
  const digest = digestOf(skills)
  const all = join(home, 'shown-skills')
  const shown = { folder: join(all, digest, folderName), digest }
  const now = new Date(nowMs)
  const isThere = await utimes(join(all, digest), now, now).then(() => true, isAbsent)
  if (isThere) return shown
  await mkdir(all, { recursive: true, mode: 0o700 })
  const making = join(all, temporarySuffix())
  try {
    for (const { view, files } of skills)
      for (const { path, content, isExecutable } of files)
        await put(join(making, folderName, placeOf(view), path), content, isExecutable ? 0o555 : 0o444)
    // Whatever our umask is, the agents' user must get in.
    const entries = await readdir(making, { recursive: true, withFileTypes: true })
    for (const entry of entries) if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), 0o755)
    await chmod(making, 0o755)
    await utimes(making, now, now)
    await rename(making, join(all, digest))
  } catch (error) {
    await removeTree(making)
    // Somebody else was quicker with the same.
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
  await removeOld(all, nowMs)
  return shown
}

/** Programs that take a folder of skills name them after it. */
export const folderName = 'pawl'

export const placeOf = ({ name, kind }: FoundSkill['view']) => `${kind === 'script' ? 'scripts' : 'skills'}/${name}`

function digestOf(skills: readonly FoundSkill[]): string {
  const hash = createHash('sha256')
  for (const { view, files } of skills)
    for (const { path, content, isExecutable } of files)
      hash.update(`${JSON.stringify([placeOf(view), path, isExecutable, content.length])}\n`).update(content)
  return hash.digest('hex').slice(0, 32)
}

async function put(path: string, content: Buffer, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content, { flag: 'wx' })
  await chmod(path, mode)
}

/** No run lasts as long as that. */
const oldMs = 30 * 24 * 3_600_000

async function removeOld(all: string, nowMs: number): Promise<void> {
  for (const name of await readdir(all)) {
    const found = await stat(join(all, name)).catch(() => undefined)
    if (found && nowMs - found.mtimeMs > oldMs) await removeTree(join(all, name))
  }
}

const isAbsent = (error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') return false
  throw error
}
