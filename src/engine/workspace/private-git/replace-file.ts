import { linkSync, lstatSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type DirectoryHandle, isThere, openIn } from '../../../sandbox/files/directory-handle.ts'
import { readRegular } from '../../../sandbox/files/read-file.ts'
import { isLeft, temporarySuffix } from '../../../sandbox/files/temporary.ts'
import { walkTree } from '../../../sandbox/files/walk-tree.ts'
import { writeNew } from '../../../sandbox/files/write-new.ts'

/** Somebody else's git holds the lock for longer than it should. */
export class Locked extends Error {}

const waitMs = 2_000
const ownName = '.pawl-new'

/**
 * Replaces a file of a git directory as git does it: whoever makes `<name>.lock` may write. The lock has its whole content from the first moment, so one that holds what
 * we are about to write is ours, from a try that was cut short. Until it is gone it has a second name, which says whose it is. Answers false, and changes nothing, if `isStill`
 * says so once nobody else can write.
 */
export async function replaceFile(
  folder: DirectoryHandle,
  name: string,
  content: Buffer | undefined,
  { isStill, mode = 0o644, mtimeMs }: { isStill?: () => Promise<boolean>; mode?: number; mtimeMs?: number } = {},
): Promise<boolean> {
  const bytes = content ?? Buffer.from('removed by pawl\n')
  const own = `${ownName}${temporarySuffix()}`
  try {
    await writeNew(folder, own, bytes, { mode, mtimeMs, durably: true })
    await take(folder, { name, own, bytes })
    try {
      if (isStill && !(await isStill())) return false
      if (content) renameSync(folder.at(`${name}.lock`), folder.at(name))
      else if (isThere(folder, name)) unlinkSync(folder.at(name))
      return true
    } finally {
      if (isThere(folder, `${name}.lock`)) unlinkSync(folder.at(`${name}.lock`))
    }
  } finally {
    if (isThere(folder, own)) unlinkSync(folder.at(own))
  }
}

async function take(
  folder: DirectoryHandle,
  { name, own, bytes }: { readonly name: string; readonly own: string; readonly bytes: Buffer },
): Promise<void> {
  const until = performance.now() + waitMs
  for (;;) {
    try {
      linkSync(folder.at(own), folder.at(`${name}.lock`))
      return
    } catch (error) {
      if ((error as { code?: string }).code !== 'EEXIST') throw error
      if (readRegular(folder, `${name}.lock`, bytes.length)?.equals(bytes)) return
      if (performance.now() > until)
        throw new Locked(`another git holds ${name}.lock; if none is at work there, remove that file`)
      await pause(50)
    }
  }
}

/**
 * Removes the locks that we held in a git directory when we were killed: nobody else would, and its owner's git writes nothing meanwhile. A lock of somebody else has no second
 * name of ours.
 */
export async function releaseLocks(root: DirectoryHandle): Promise<void> {
  await walkTree(root, async ({ path, name, folder, stats }) => {
    if (path === 'objects') return 'past'
    if (!name.startsWith(ownName) || !isLeft(name) || !stats.isFile()) return 'in'
    for (const other of readdirSync(folder.at('.'))) {
      const lock = other.endsWith('.lock') ? lstatSync(folder.at(other), { throwIfNoEntry: false }) : undefined
      if (lock?.ino === stats.ino && lock.dev === stats.dev) unlinkSync(folder.at(other))
    }
    unlinkSync(folder.at(name))
    return 'past'
  })
}

/** Removes folders that hold nothing but folders. False if there is anything else in them. */
export async function removeEmpty(parent: DirectoryHandle, name: string): Promise<boolean> {
  const folder = await openIn(parent, name)
  if (!folder) return false
  try {
    for (const entry of readdirSync(folder.at('.'))) if (!(await removeEmpty(folder, entry))) return false
  } finally {
    await folder.close()
  }
  rmdirSync(parent.at(name))
  return true
}
