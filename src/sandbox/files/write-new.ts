import { closeSync, constants, fchmodSync, fchownSync, fsyncSync, futimesSync, openSync, writeFileSync } from 'node:fs'
import { type DirectoryHandle, noFollow } from './directory-handle.ts'

export interface HowToWrite {
  /** The nine permission bits. */
  readonly mode: number
  readonly mtimeMs?: number | undefined
  /** On disk when this resolves. */
  readonly durably?: boolean | undefined
}

/** Makes a file that belongs to whom its folder belongs. Throws where anything of that name is there. */
export async function writeNew(folder: DirectoryHandle, name: string, content: Buffer, how: HowToWrite): Promise<void> {
  const { mode, mtimeMs, durably = false } = how
  const owner = await folder.stat()
  const file = openSync(folder.at(name), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow, 0o600)
  try {
    writeFileSync(file, content)
    fchownSync(file, owner.uid, owner.gid)
    fchmodSync(file, mode & 0o777)
    if (mtimeMs !== undefined) futimesSync(file, Math.floor(mtimeMs) / 1_000, Math.floor(mtimeMs) / 1_000)
    if (durably) fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
