import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { isAbsence } from '../../sandbox/files/directory-handle.ts'
import { removeHomeFile, removeUnfinished } from '../../sandbox/files/home-files.ts'
import { writeFileDurably } from '../../store/durable-file.ts'
import { withLock } from '../../store/embedded/lock.ts'

/**
 * What lets somebody in and lies in a session home while a program needs it: written down before it is put there, so that whoever comes after a kill can remove it.
 */
export interface Leftovers {
  remember(sessionHome: string, paths: readonly string[], folders?: readonly string[]): Promise<void>
  /** Removes what was remembered of this session home. */
  forget(sessionHome: string): Promise<void>
  /** What is remembered of this session home, whoever put it there. */
  recall(sessionHome: string): Promise<readonly string[]>
  /** Removes what dead processes left, each after `rescue` has taken from it what must not be lost. Throws if one had to stay, after all the others. */
  sweep(how: {
    /** The workers that live now. */
    readonly living: () => Promise<ReadonlySet<string>>
    readonly rescue?: (sessionHome: string, paths: readonly string[]) => Promise<unknown>
  }): Promise<number>
  /** One at a time, in all processes of this home. */
  locked<T>(work: () => Promise<T>): Promise<T>
}

const Entry = z.object({
  worker: z.string(),
  home: z.string(),
  paths: z.array(z.string()),
  /** Whole folders, where no agent can write. */
  folders: z.array(z.string()).default([]),
})
type Entry = z.infer<typeof Entry>

export function createLeftovers(options: { home: string; worker: string }): Leftovers {
  const folder = join(options.home, 'leftovers')
  const locks = join(options.home, 'login.lock')
  const fileOf = (sessionHome: string) => join(folder, `${basename(sessionHome)}.json`)
  const remove = async (entry: Entry) => {
    for (const path of [...entry.paths, ...entry.folders]) await removeHomeFile({ home: entry.home, path })
    await rm(fileOf(entry.home), { force: true })
  }
  const entries = async (): Promise<Entry[]> => {
    const names = await readdir(folder).catch((error: unknown) => {
      if (isAbsence(error)) return []
      throw error
    })
    const read = await Promise.all(names.filter((name) => name.endsWith('.json')).map((name) => readEntry(join(folder, name))))
    return read.filter((entry) => entry !== undefined)
  }
  return {
    async remember(sessionHome, paths, folders = []) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const known = await readEntry(fileOf(sessionHome))
      const union = (before: readonly string[] = [], added: readonly string[]) => [...new Set([...before, ...added])]
      const entry: Entry = {
        worker: options.worker,
        home: sessionHome,
        paths: union(known?.paths, paths),
        folders: union(known?.folders, folders),
      }
      await writeFileDurably(fileOf(sessionHome), JSON.stringify(entry))
    },
    async forget(sessionHome) {
      const entry = await readEntry(fileOf(sessionHome))
      if (entry?.worker === options.worker) await remove(entry)
    },
    async recall(sessionHome) {
      return (await readEntry(fileOf(sessionHome)))?.paths ?? []
    },
    async sweep({ living, rescue }) {
      const left = await entries()
      if (left.length === 0) return 0
      // Asked after the entries were read: whoever wrote one and is not among the living is dead.
      const alive = await living()
      let swept = 0
      const failures: unknown[] = []
      for (const { worker, home } of left) {
        if (worker === options.worker || alive.has(worker)) continue
        const sweepOne = async () => {
          const entry = await readEntry(fileOf(home))
          // A living one may have taken the session over meanwhile, and with it what lies there.
          if (entry?.worker !== worker) return
          await rescue?.(home, entry.paths)
          for (const path of entry.paths) await removeUnfinished({ home, path })
          await remove(entry)
          swept++
        }
        await this.locked(sweepOne).catch((error: unknown) => failures.push(error))
      }
      if (failures.length > 0) throw failures[0]
      return swept
    },
    async locked(work) {
      await mkdir(locks, { recursive: true, mode: 0o700 })
      return withLock(locks, work, { busyWith: 'copying a login' })
    },
  }
}

/** Undefined if there is none, or only half of one, which then nothing was put there for. */
async function readEntry(file: string): Promise<Entry | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  try {
    return Entry.parse(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return undefined
    throw error
  }
}
