import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isLeft, temporarySuffix } from '../files/temporary.ts'

/** What is laid over what, for one process that mounts all of it. A file, because `mount` reads no table from a pipe (util-linux 2.38). */
export interface MountTable {
  readonly path: string
  readonly text: string
}

export const tableIn = (folder: string, laid: readonly (readonly [source: string, place: string])[]): MountTable => ({
  path: join(folder, `table${temporarySuffix()}`),
  text: laid.map(([source, place]) => `${written(source)} ${written(place)} none rbind\n`).join(''),
})

/** It is split at white space, and a line may be a comment; ours begin with a slash. */
const written = (path: string) =>
  path.replaceAll(/[\s\\]/g, (sign) => [...Buffer.from(sign)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join(''))

/** Lays the table where it is looked for, for as long as `follow` takes. */
export async function withTable<T>(table: MountTable | undefined, follow: () => Promise<T>): Promise<T> {
  if (!table) return follow()
  if (!isSwept) sweepTables(dirname(table.path))
  isSwept = true
  writeFileSync(table.path, table.text, { mode: 0o600 })
  try {
    return await follow()
  } finally {
    rmSync(table.path, { force: true })
  }
}

let isSwept = false

/** Removes the tables of processes that were killed while they built walls. */
export function sweepTables(folder: string): void {
  for (const name of readdirSync(folder)) if (isLeft(name)) rmSync(join(folder, name), { force: true })
}
