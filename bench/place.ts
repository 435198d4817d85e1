import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Gives a benchmark a folder, and ends whatever it started, last first, however it went. */
export async function inPlace<T>(work: (place: Place) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-bench-'))
  const closers: (() => Promise<unknown> | unknown)[] = []
  try {
    return await work({ folder, onEnd: (close) => closers.push(close) })
  } finally {
    for (const close of closers.toReversed()) await close()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

export interface Place {
  readonly folder: string
  onEnd(close: () => Promise<unknown> | unknown): void
}
