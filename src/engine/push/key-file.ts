import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newSenderKey, readSenderKey, type SenderKey } from './vapid.ts'

const fileOf = (home: string) => join(home, 'push-key.pem')

/** Undefined while nobody has asked for it. */
export async function findSenderKey(home: string): Promise<SenderKey | undefined> {
  const pem = await readFile(fileOf(home), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  return pem === undefined ? undefined : readSenderKey(pem)
}

/** Made once and kept: with another one, every browser would have to be asked again. Of two processes that make it at the same moment one wins. */
export async function ensureSenderKey(home: string): Promise<SenderKey> {
  const found = await findSenderKey(home)
  if (found) return found
  const draft = `${fileOf(home)}.${process.pid}`
  await writeFile(draft, newSenderKey(), { mode: 0o600, flush: true })
  try {
    await link(draft, fileOf(home)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(draft, { force: true })
  }
  return (await findSenderKey(home))!
}
