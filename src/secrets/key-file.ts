import { randomBytes } from 'node:crypto'
import { link, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf, unavailable } from '../domain/error.ts'
import { keyBytes } from './seal.ts'

export const makeKey = (): Buffer => randomBytes(keyBytes)

/** Undefined if there is no file. One that others may read is refused: what it protects is no secret any more. */
export async function readKeyFile(file: string): Promise<Buffer | undefined> {
  let text: string
  try {
    const { mode } = await stat(file)
    if ((mode & 0o077) !== 0)
      throw unavailable(
        `The key file ${file} may be read by others (mode ${(mode & 0o777).toString(8)}); close it with: chmod 600 ${file}`,
      )
    text = await readFile(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    if (code === undefined || (error as Error).name === 'PawlError') throw error
    throw unavailable(`The key file ${file} cannot be read: ${messageOf(error)}.`, error)
  }
  return parseKey(text, `The key file ${file}`)
}

/** 32 bytes in base64 or hexadecimal. The text is never repeated: it may be nearly a key. */
export function parseKey(text: string, where: string): Buffer {
  const written = text.trim()
  if (/^[0-9a-fA-F]{64}$/.test(written)) return Buffer.from(written, 'hex')
  const key = /^[A-Za-z0-9+/_-]{43}=?$/.test(written) ? Buffer.from(written, 'base64') : undefined
  if (key?.length !== keyBytes)
    throw unavailable(
      `${where} holds no key, which is 32 bytes in base64 or hexadecimal; restore it, or make one with: head -c 32 /dev/urandom | base64`,
    )
  return key
}

/** Makes a key file unless there is one, and answers what then lies there: of two who make one at the same time, both get the same. */
export async function makeKeyFile(file: string): Promise<Buffer> {
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    await writeDurably(temporary, makeKey())
    // Unlike renaming, linking never replaces.
    await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    await syncFolder(file)
  } finally {
    await rm(temporary, { force: true })
  }
  return (await readKeyFile(file))!
}

/**
 * A new key lies beside the old one until everything is sealed anew, and only then takes its place. Whoever comes after a crash in between finds the one that fits.
 */
export const nextOf = (file: string) => `${file}.next`

export async function stageKey(file: string, key: Buffer): Promise<void> {
  await rm(nextOf(file), { force: true })
  await writeDurably(nextOf(file), key)
  await syncFolder(file)
}

export async function promoteKey(file: string): Promise<void> {
  await rename(nextOf(file), file).catch((error: NodeJS.ErrnoException) => {
    // Somebody else has just done it.
    if (error.code !== 'ENOENT') throw error
  })
  await syncFolder(file)
}

async function writeDurably(file: string, key: Buffer): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(`${key.toString('base64')}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function syncFolder(file: string): Promise<void> {
  const folder = await open(dirname(file), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
