import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openDirectory } from '../../sandbox/files/directory-handle.ts'
import { takingTurns } from '../base/turns.ts'
import type { Planted } from './find-planted.ts'

/** More than a person would go through one by one. */
export const mostSingly = 200

/** The same, with one folder in the place of all that was planted in it, where it holds nothing else: it goes as a whole, and comes back so. */
export async function gathered(root: string, planted: readonly Planted[]): Promise<Planted[]> {
  const isReplaced = ({ earlier, cleaned }: Planted) => earlier !== undefined || cleaned !== undefined
  const whole = new Map(planted.filter((one) => !isReplaced(one)).map((one) => [one.path, one]))
  const turn = takingTurns()
  // The deepest first: a folder that goes as a whole counts as planted in the one above it.
  const deepest = planted.reduce((most, { path }) => Math.max(most, depth(path)), 0)
  for (let level = deepest; level > 1; level--) {
    const inFolder = Map.groupBy(
      [...whole.values()].filter(({ path }) => depth(path) === level),
      ({ path }) => dirname(path),
    )
    for (const [folder, inIt] of inFolder) {
      await turn()
      if ((await countIn(join(root, folder))) !== inIt.length) continue
      for (const { path } of inIt) whole.delete(path)
      whole.set(folder, { path: folder, runs: inIt[0]?.runs ?? 'unknown' })
    }
  }
  return [...planted.filter(isReplaced), ...whole.values()]
}

async function countIn(path: string): Promise<number> {
  const folder = await openDirectory(path)
  try {
    return folder ? readdirSync(folder.at('.')).length : 0
  } finally {
    await folder?.close()
  }
}

const depth = (path: string) => path.split('/').length
