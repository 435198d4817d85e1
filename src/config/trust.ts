import { createHash, randomBytes } from 'node:crypto'
import { open, readFile, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { conflict, invalid, PawlError } from '../domain/error.ts'

export interface TrustedFile {
  readonly file: string
  readonly hash: string
}

const Store = z.strictObject({ version: z.literal(1), files: z.record(z.string(), z.string()) })

export const hashOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/**
 * Trusts a project's settings as they stand now; any change of the file ends the trust.
 * With `hash`, only if the file still is what the person was shown.
 */
export async function trustFile(home: string, file: string, shown: { hash?: string | undefined } = {}): Promise<TrustedFile> {
  const { real, hash } = await identify(file)
  if (shown.hash !== undefined && shown.hash !== hash)
    throw conflict(`${file} changed while you were asked about it; look at it again, then run "pawl trust".`)
  const files = await readStore(home)
  files.set(real, hash)
  await writeStore(home, files)
  return { file: real, hash }
}

/** False if it was not trusted. A file that is gone can be untrusted by the path it had. */
export async function untrustFile(home: string, file: string): Promise<boolean> {
  const files = await readStore(home)
  const real = await realpath(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return file
    throw error
  })
  if (!files.delete(real)) return false
  await writeStore(home, files)
  return true
}

export async function listTrusted(home: string): Promise<TrustedFile[]> {
  return [...(await readStore(home))].map(([file, hash]) => ({ file, hash }))
}

/** Whether exactly these bytes at this place are trusted. The caller passes the bytes it will use, so no swap can slip between. */
export async function isTrusted(home: string, file: string, bytes: Uint8Array): Promise<boolean> {
  const files = await readStore(home)
  if (files.size === 0) return false
  return files.get(await realpath(file)) === hashOf(bytes)
}

async function identify(file: string): Promise<{ real: string; hash: string }> {
  try {
    const real = await realpath(file)
    return { real, hash: hashOf(await readFile(real)) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EISDIR') throw invalid(`${file} is a folder; name the pawl.yaml in it.`)
    throw new PawlError('not_found', `${file} cannot be read, so it cannot be trusted; check the path and its permissions.`, {
      cause: error,
    })
  }
}

const storeFile = (home: string) => join(home, 'trusted.json')

async function readStore(home: string): Promise<Map<string, string>> {
  let text: string
  try {
    text = await readFile(storeFile(home), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
    throw error
  }
  try {
    return new Map(Object.entries(Store.parse(JSON.parse(text)).files))
  } catch (error) {
    throw new PawlError('invalid', `${storeFile(home)} is damaged; delete it and trust your projects again with "pawl trust".`, {
      cause: error,
    })
  }
}

/** Whole or not at all, also through a power cut. */
async function writeStore(home: string, files: ReadonlyMap<string, string>): Promise<void> {
  const target = storeFile(home)
  const fresh = `${target}.${randomBytes(6).toString('hex')}`
  try {
    const handle = await open(fresh, 'wx', 0o600)
    try {
      await handle.writeFile(`${JSON.stringify({ version: 1, files: Object.fromEntries(files) }, null, 2)}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(fresh, target)
  } catch (error) {
    await rm(fresh, { force: true })
    throw error
  }
  const folder = await open(dirname(target), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
