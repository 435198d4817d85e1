import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import type { Clock } from '../../clock.ts'
import { unavailable } from '../../domain/error.ts'
import type { ClientAnswer } from '../client/answer.ts'
import { headerIn } from '../headers.ts'

/** How the reading of an answer ended: in full, broken off by the provider, left by the client, or too long without a piece of it. */
export type End = 'whole' | 'cut' | 'gone' | 'late'

export interface Pumping {
  readonly answer: ClientAnswer
  readonly clock: Clock
  readonly idleMs: number
  /** False if no more is wanted before the client has taken what it has. What it throws ends the reading. */
  take(chunk: Buffer): boolean
}

/** Reads a provider's answer as fast as the client takes it, and stops as soon as the client is gone. */
export function pump(source: Readable, { answer, clock, idleMs, take }: Pumping): Promise<End> {
  const { promise, resolve, reject } = Promise.withResolvers<End>()
  let last = clock.monotonic()
  let cancel = clock.after(idleMs, watch)
  let gathered: Buffer[] = []
  let isStopped = false

  // One timer for the whole answer, however many pieces it has.
  function watch(): void {
    const left = last + idleMs - clock.monotonic()
    if (left <= 0) finish('late')
    else cancel = clock.after(left, watch)
  }
  function finish(end: End): void {
    stop(end !== 'whole')
    resolve(end)
  }
  function stop(isCut: boolean): void {
    isStopped = true
    gathered = []
    cancel()
    answer.gone.removeEventListener('abort', leave)
    source.off('data', onData)
    if (isCut) source.destroy()
  }
  // One read from the network may hold many small pieces, which come one by one and are cheaper to hand on together.
  function onData(chunk: Buffer): void {
    if (gathered.push(chunk) > 1) return
    last = clock.monotonic()
    process.nextTick(handOn)
  }
  function handOn(): void {
    if (isStopped || gathered.length === 0) return
    const chunk = gathered.length === 1 ? gathered[0]! : Buffer.concat(gathered)
    gathered = []
    try {
      if (take(chunk)) return
    } catch (thrown) {
      stop(true)
      reject(thrown)
      return
    }
    source.pause()
    answer.onDrain(() => source.resume())
  }
  const leave = () => finish('gone')

  const finishWithRest = (end: End) => {
    handOn()
    if (!isStopped) finish(end)
  }
  source.once('end', () => finishWithRest('whole'))
  source.once('error', () => finishWithRest('cut'))
  source.once('close', () => finishWithRest('cut'))
  if (answer.gone.aborted) leave()
  else {
    answer.gone.addEventListener('abort', leave)
    source.on('data', onData)
  }
  return promise
}

/** The body as it was before it was packed: some providers pack it though they were asked not to. */
export function unpacked(response: IncomingMessage): Readable {
  const encoding = headerIn(response.rawHeaders, 'content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity' || encoding === '') return response
  const unpack = unpackers[encoding]
  if (!unpack) {
    response.destroy()
    throw unavailable(
      `The provider packed its answer as "${encoding.slice(0, 40)}", which nobody asked for and nobody here can read.`,
    )
  }
  return pipeline(response, unpack(), () => undefined)
}

const unpackers: Partial<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}
