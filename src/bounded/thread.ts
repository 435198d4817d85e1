import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { Gate } from '../base/gate.ts'
import { PawlError } from '../domain/error.ts'
import type { Jobs } from './jobs.ts'

/** What a thread can be asked for, by name. */
export type JobList<All> = { [Name in keyof All]: { readonly input: unknown; readonly output: unknown } }

/** Has one job done on the thread. Rejects with `TookTooLong` once all jobs together have taken longer than they may. */
export type Ask<All extends JobList<All> = Jobs> = <Name extends keyof All>(
  name: Name,
  input: All[Name]['input'],
) => Promise<All[Name]['output']>

/** The file `thread-program.ts` of a folder of `src`, which serves these jobs; `from` is the address of a module in that folder. */
export interface ThreadProgram<All extends JobList<All>> {
  readonly folder: string
  readonly from: string
  readonly serves?: All
}

const patterns: ThreadProgram<Jobs> = { folder: 'bounded', from: import.meta.url }

export interface ThreadLimits {
  /** How many may have a thread at once. */
  readonly line: Gate
  /** For all jobs together, without the start of the thread. */
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
}

/** A job was ended before it was done: by its deadline, or because it wanted too much memory. */
export class TookTooLong extends Error {}

const startMs = 30_000
const mostMegabytes = 256

/** Lends a thread to `work`, for what can keep a processor busy for as long as its author likes. A thread that fails, or is late, is ended. */
export function onThread<T>(limits: ThreadLimits, work: (ask: Ask) => Promise<T>): Promise<T>
export function onThread<T, All extends JobList<All>>(
  limits: ThreadLimits,
  work: (ask: Ask<All>) => Promise<T>,
  program: ThreadProgram<All>,
): Promise<T>
export function onThread<T>(
  { line, deadlineMs, signal }: ThreadLimits,
  work: (ask: Ask) => Promise<T>,
  program: Pick<ThreadProgram<Jobs>, 'folder' | 'from'> = patterns,
): Promise<T> {
  return line(async () => {
    signal?.throwIfAborted()
    const worker = spare.take(program.folder) ?? startThread(program)
    const { promise: failed, reject: fail } = Promise.withResolvers<never>()
    failed.catch(() => undefined)
    const aborted = () => fail(signal!.reason)
    signal?.addEventListener('abort', aborted)
    const broken = (error: NodeJS.ErrnoException) =>
      fail(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new TookTooLong('it needs too much memory') : error)
    const ended = (code: number) => fail(new Error(`the thread ended with ${code}`))
    worker.on('error', broken)
    worker.on('exit', ended)
    let left = deadlineMs
    let isIdle = true
    try {
      const result = await work(async (name, input) => {
        isIdle = false
        await within(startMs, started.get(worker)!)
        const startedAt = performance.now()
        worker.postMessage({ name, input })
        const answer = await within(left, new Promise<Answer>((resolve) => worker.once('message', resolve)))
        left -= performance.now() - startedAt
        isIdle = true
        if ('error' in answer) throw new PawlError('invalid', answer.error)
        return answer.output as never
      })
      return result
    } finally {
      signal?.removeEventListener('abort', aborted)
      worker.off('error', broken)
      worker.off('exit', ended)
      if (isIdle) spare.keep(worker, program.folder)
      else await worker.terminate()
    }

    function within<Value>(ms: number, value: Promise<Value>): Promise<Value> {
      // An answer that came while this thread itself was held up is taken before the deadline is.
      const late = () => setImmediate(() => fail(new TookTooLong(`it takes longer than ${deadlineMs / 1_000} s`)))
      const timer = setTimeout(late, Math.max(0, ms))
      return Promise.race([value, failed]).finally(() => clearTimeout(timer))
    }
  })
}

type Answer = { readonly output: unknown } | { readonly error: string }

const started = new WeakMap<Worker, Promise<unknown>>()

function startThread(program: Pick<ThreadProgram<Jobs>, 'folder' | 'from'>): Worker {
  const worker = new Worker(programFile(program), {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: mostMegabytes },
  })
  started.set(worker, new Promise((resolve) => worker.once('message', resolve)))
  return worker
}

/** A thread takes 50 ms and more to start. One that is done waits a while for the next job; it keeps no process alive. */
const spare = {
  waiting: new Map<Worker, { readonly folder: string; readonly leave: () => void }>(),
  keep(worker: Worker, folder: string): void {
    const leave = () => {
      clearTimeout(timer)
      worker.off('error', leave)
      worker.off('exit', leave)
      this.waiting.delete(worker)
    }
    const timer = setTimeout(() => {
      leave()
      void worker.terminate()
    }, spareMs).unref()
    // Nobody may take one that has ended meanwhile.
    worker.on('error', leave)
    worker.on('exit', leave)
    worker.unref()
    this.waiting.set(worker, { folder, leave })
  },
  take(wanted: string): Worker | undefined {
    for (const [worker, { folder, leave }] of this.waiting) {
      if (folder !== wanted) continue
      leave()
      worker.ref()
      return worker
    }
    return undefined
  },
}
const spareMs = 10_000

/** Finds the file `thread-program` of a folder of `src`: a file of its own in an installed package, and beside `from` in a checkout. */
export function programFile({ folder, from }: { readonly folder: string; readonly from: string }): URL {
  const places = ['./thread-program.ts', `./${folder}/thread-program.js`, `../${folder}/thread-program.js`]
  const found = places.map((place) => new URL(place, from)).find((place) => existsSync(place))
  if (!found)
    throw new PawlError(
      'unavailable',
      `A program of Pawl (${folder}/thread-program.js) is missing from this installation of Pawl. Install Pawl again.`,
    )
  return found
}
