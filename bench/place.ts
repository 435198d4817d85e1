import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Gives a benchmark a folder, and ends whatever it started, last first, however it went: also when the whole run is broken off. */
export async function inPlace<T>(work: (place: Place) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-bench-'))
  const closers: (() => Promise<unknown> | unknown)[] = []
  let leaving: Promise<void> | undefined
  const leave = () => {
    leaving ??= (async () => {
      for (const close of closers.toReversed()) await close()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    })()
    return leaving
  }
  const brokenOff = () => void leave().finally(() => process.exit(130))
  process.on('SIGINT', brokenOff).on('SIGTERM', brokenOff)
  try {
    return await work({ folder, onEnd: (close) => closers.push(close) })
  } finally {
    process.off('SIGINT', brokenOff).off('SIGTERM', brokenOff)
    await leave()
  }
}

export interface Place {
  readonly folder: string
  onEnd(close: () => Promise<unknown> | unknown): void
}
