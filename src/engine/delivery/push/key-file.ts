import { join } from 'node:path'
import { madeOnce, readIfThere } from '../../../sandbox/files/made-once.ts'
import { newSenderKey, readSenderKey, type SenderKey } from './vapid.ts'

const fileOf = (home: string) => join(home, 'push-key.pem')

/** Undefined while nobody has asked for it. */
export async function findSenderKey(home: string): Promise<SenderKey | undefined> {
  const pem = await readIfThere(fileOf(home))
  return pem === undefined ? undefined : readSenderKey(pem)
}

/** With another one, every browser would have to be asked again. */
export const ensureSenderKey = async (home: string): Promise<SenderKey> =>
  readSenderKey(await madeOnce(fileOf(home), newSenderKey))
