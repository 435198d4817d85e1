import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')

export interface BuildPlan {
  /** Builds of one kind lie in one folder of the cache. */
  readonly kind: string
  /** All that it is made of, as patterns below the checkout. */
  readonly sources: readonly string[]
  /** A build that nobody asked for this long is removed. */
  readonly unusedMs: number
  make(folder: string): Promise<void>
}

/**
 * The build of what the sources are now, made if there is none. Each lies under a digest of what it is made from, and of the checkout that its links may point to: it is never
 * out of date, serves whoever comes next, and stays as it is for those who run it while the sources go on.
 */
export async function keptBuild({ kind, sources, unusedMs, make }: BuildPlan): Promise<string> {
  const cache = join(root, 'node_modules/.cache', kind)
  const place = join(cache, prefix + digestOf(sources))
  if (existsSync(place)) {
    utimesSync(place, new Date(), new Date())
    return place
  }
  mkdirSync(cache, { recursive: true })
  tidy(cache, unusedMs)
  const draft = mkdtempSync(join(cache, `${prefix}draft-`))
  await make(draft)
  try {
    renameSync(draft, place)
  } catch (error) {
    // Somebody else was quicker.
    if (!existsSync(place)) throw error
    rmSync(draft, { recursive: true })
  }
  return place
}

const prefix = 'pawl-'

function digestOf(sources: readonly string[]): string {
  const hash = createHash('sha256').update(root)
  const names = globSync([...sources], { cwd: root, exclude: ['**/*.test.ts'] })
  for (const name of names.toSorted()) hash.update(name).update(readFileSync(join(root, name)))
  return hash.digest('hex').slice(0, 16)
}

function tidy(cache: string, unusedMs: number): void {
  for (const name of readdirSync(cache).filter((entry) => entry.startsWith(prefix))) {
    const found = statSync(join(cache, name), { throwIfNoEntry: false })
    if (found && Date.now() - found.mtimeMs > unusedMs) rmSync(join(cache, name), { recursive: true, force: true })
  }
}
