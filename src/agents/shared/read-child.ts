import type { Readable } from 'node:stream'
import type { Child, Exit } from '../../sandbox/process/child.ts'

/**
 * Reads both outputs, each chunk after the handler is done with the one before, until the child has ended or the signal aborts.
 * Undefined: aborted before the child had ended. What comes later flows on unread, so that a child which is being stopped does
 * not hang on a full pipe.
 */
export async function readChild(
  child: Pick<Child, 'stdout' | 'stderr' | 'exited'>,
  reading: {
    signal: AbortSignal
    stdout(chunk: Buffer): Promise<void> | void
    stderr(chunk: Buffer): Promise<void> | void
  },
): Promise<Exit | undefined> {
  // A handler that fails ends the reading of both.
  const failed = new AbortController()
  const signal = AbortSignal.any([reading.signal, failed.signal])
  const read = async (stream: Readable, handle: (chunk: Buffer) => Promise<void> | void) => {
    try {
      await pump(stream, handle, signal)
    } catch (thrown) {
      failed.abort()
      throw thrown
    }
  }
  await Promise.all([read(child.stdout, reading.stdout), read(child.stderr, reading.stderr)])
  return Promise.race([child.exited, aborted(signal)])
}

async function pump(stream: Readable, handle: (chunk: Buffer) => Promise<void> | void, signal: AbortSignal): Promise<void> {
  const bell = createBell()
  for (const name of wakers) stream.on(name, bell.ring)
  signal.addEventListener('abort', bell.ring)
  try {
    for (;;) {
      // After the abort what has already arrived is still taken, once.
      const isLast = signal.aborted
      const chunk: Buffer | null = stream.read()
      if (chunk !== null) await handle(chunk)
      else if (stream.readableEnded || stream.destroyed) return
      if (isLast) return
      if (chunk === null) await bell.rung()
    }
  } finally {
    signal.removeEventListener('abort', bell.ring)
    for (const name of wakers) stream.off(name, bell.ring)
    stream.resume()
  }
}

const wakers = ['readable', 'end', 'close', 'error'] as const

/** Remembers one ring, so that nothing that happens between two waits is missed. */
function createBell() {
  let rang = false
  let wake: (() => void) | undefined
  return {
    ring: () => {
      rang = true
      wake?.()
    },
    rung: () =>
      new Promise<void>((done) => {
        wake = () => {
          rang = false
          wake = undefined
          done()
        }
        if (rang) wake()
      }),
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<undefined>((done) => {
    if (signal.aborted) done(undefined)
    else signal.addEventListener('abort', () => done(undefined), { once: true })
  })
