import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  futimesSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type DirectoryHandle, noFollow, openIn } from '../../../sandbox/files/directory-handle.ts'
import { readRegular } from '../capture.ts'

/** Somebody else's git holds the lock for longer than it should. */
export class Locked extends Error {}

const waitMs = 2_000
const ownName = '.pawl-new.tmp'

/**
 * Replaces a file of a git directory as git does it: whoever makes `<name>.lock` may write. The lock has its whole content from the first moment, so one that holds what
 * we are about to write is ours, from a try that was cut short. Answers false, and changes nothing, if `isStill` says so once nobody else can write.
 */
export async function replaceFile(
  folder: DirectoryHandle,
  name: string,
  content: Buffer | undefined,
  { isStill, mode = 0o644, mtimeMs }: { isStill?: () => Promise<boolean>; mode?: number; mtimeMs?: number } = {},
): Promise<boolean> {
  const bytes = content ?? Buffer.from('removed by pawl\n')
  await take(folder, name, bytes, mode, mtimeMs)
  try {
    if (isStill && !(await isStill())) return false
    if (content) renameSync(folder.at(`${name}.lock`), folder.at(name))
    else if (isThere(folder, name)) unlinkSync(folder.at(name))
    return true
  } finally {
    if (isThere(folder, `${name}.lock`)) unlinkSync(folder.at(`${name}.lock`))
  }
}

async function take(folder: DirectoryHandle, name: string, bytes: Buffer, mode: number, mtimeMs?: number): Promise<void> {
  if (isThere(folder, ownName)) unlinkSync(folder.at(ownName))
  const owner = await folder.stat()
  const file = openSync(folder.at(ownName), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow, 0o600)
  try {
    writeFileSync(file, bytes)
    fchownSync(file, owner.uid, owner.gid)
    fchmodSync(file, mode)
    if (mtimeMs !== undefined) futimesSync(file, Math.floor(mtimeMs) / 1_000, Math.floor(mtimeMs) / 1_000)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  try {
    const until = performance.now() + waitMs
    for (;;) {
      try {
        linkSync(folder.at(ownName), folder.at(`${name}.lock`))
        return
      } catch (error) {
        if ((error as { code?: string }).code !== 'EEXIST') throw error
        if ((await readRegular(folder, `${name}.lock`, bytes.length))?.equals(bytes)) return
        if (performance.now() > until)
          throw new Locked(`another git holds ${name}.lock; if none is at work there, remove that file`)
        await pause(50)
      }
    }
  } finally {
    unlinkSync(folder.at(ownName))
  }
}

export const isThere = (folder: DirectoryHandle, name: string): boolean =>
  lstatSync(folder.at(name), { throwIfNoEntry: false }) !== undefined

/** The folder of that path below an open one, made where it is missing and given to whom its parent belongs. Undefined if something else is in its place. */
export async function folderIn<T>(
  root: DirectoryHandle,
  path: string,
  use: (folder: DirectoryHandle | undefined) => Promise<T>,
): Promise<T> {
  const [first, ...rest] = path.split('/').filter((part) => part !== '' && part !== '.')
  if (first === undefined) return use(root)
  let folder = await openIn(root, first)
  if (!folder && !isThere(root, first)) {
    mkdirSync(root.at(first), { mode: 0o755 })
    folder = await openIn(root, first)
    const owner = await root.stat()
    await folder?.chown(owner.uid, owner.gid)
  }
  try {
    return folder ? await folderIn(folder, rest.join('/'), use) : await use(undefined)
  } finally {
    await folder?.close()
  }
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
