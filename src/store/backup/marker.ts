import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { unavailable } from '../../domain/error.ts'
import type { Database } from '../database.ts'
import { writeFileDurably } from '../durable-file.ts'
import { isRestored } from './restore.ts'

/** Lies in a home from before the first file of a restore until after its last: whoever finds it knows that the home may not be whole. */
export interface RestoreMark {
  readonly backup: string
  readonly file: string
}

const markOf = (home: string) => join(home, 'restoring.json')

export async function readMark(home: string): Promise<RestoreMark | undefined> {
  try {
    return JSON.parse(await readFile(markOf(home), 'utf8')) as RestoreMark
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export const setMark = (home: string, mark: RestoreMark) => writeFileDurably(markOf(home), JSON.stringify(mark))
export const clearMark = (home: string) => rm(markOf(home), { force: true })

/** Before a home is used: a restore that was cut short after its commit is complete; one before it has left nothing to work with. */
export async function refuseHalfRestored(home: string, database: Pick<Database, 'pool'>): Promise<void> {
  const mark = await readMark(home)
  if (!mark) return
  const client = await database.pool.connect()
  try {
    if (await isRestored(client, mark.backup)) return await clearMark(home)
  } finally {
    client.release()
  }
  throw unavailable(
    `A restore into this home was cut short; repeat it: pawl restore ${mark.file}. To begin with an empty home instead, remove ${markOf(home)}.`,
  )
}
