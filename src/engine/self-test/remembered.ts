import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { writeFileDurably } from '../../store/durable-file.ts'
import { type Canary, canaryNames } from './canaries.ts'
import type { SelfTest } from './self-test.ts'

/** Tests that were passed, for processes that live too short a time to try the walls again. */
export interface RememberedTests {
  /** What came of trying a profile of this digest, if that is to be believed. */
  find(digest: string): Promise<SelfTest | undefined>
  /** Never rejects: what could not be kept is tried again. One that failed is forgotten. */
  keep(digest: string, test: SelfTest): Promise<void>
}

export interface RememberedTestsOptions {
  readonly home: string
  /** All that the walls of this machine depend on. With another ground nothing that was remembered counts. */
  readonly ground: readonly string[]
  /** False: only kept for others. */
  readonly believed: boolean
}

const Passed = z.object({
  at: z.number(),
  ms: z.number(),
  untested: z.array(z.object({ canary: z.enum(canaryNames as [Canary, ...Canary[]]), why: z.string() })),
})
const Memory = z.object({ ground: z.array(z.string()), passed: z.record(z.string(), Passed) })
type Passed = z.infer<typeof Passed>

/** Whoever gives each task a profile of its own must not fill the file. */
const most = 50

export function createRememberedTests({ home, ground, believed }: RememberedTestsOptions): RememberedTests {
  const file = join(home, 'self-test.json')
  let writing: Promise<void> = Promise.resolve()

  async function read(): Promise<Record<string, Passed>> {
    try {
      const memory = Memory.parse(JSON.parse(await readFile(file, 'utf8')))
      return JSON.stringify(memory.ground) === JSON.stringify(ground) ? memory.passed : {}
    } catch {
      // Missing, damaged or unreadable: all of them mean that the walls are tried.
      return {}
    }
  }

  async function write(digest: string, { passed, at, ms, untested }: SelfTest): Promise<void> {
    const { [digest]: before, ...others } = await read()
    if (!passed && !before) return
    const newest = Object.entries(others)
      .toSorted(([, a], [, b]) => b.at - a.at)
      .slice(0, most - 1)
    const own = passed ? [[digest, { at, ms, untested }] as const] : []
    await writeFileDurably(file, JSON.stringify({ ground, passed: Object.fromEntries([...own, ...newest]) }))
  }

  return {
    async find(digest) {
      const known = believed ? (await read())[digest] : undefined
      return known && { passed: true, escaped: [], failure: undefined, ...known }
    },
    keep(digest, test) {
      writing = writing.then(() => write(digest, test)).catch(() => undefined)
      return writing
    },
  }
}
