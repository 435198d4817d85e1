import { createHash } from 'node:crypto'
import { createWriteStream, type WriteStream } from 'node:fs'
import type { Clock } from '../../base/clock.ts'
import type { Redactor } from '../../redact/redactor.ts'
import type { Child } from '../../sandbox/process/child.ts'
import { useOf } from '../../sandbox/process/use.ts'
import { lengthOf, WorkWatch } from '../base/working.ts'

/** How a check ended, and what it printed. */
export interface CheckEnd {
  readonly exitCode: number | null
  /** Why it did not come to an end of its own. */
  readonly why: string | null
  /** Of the file in which its output is kept. */
  readonly outputDigest: string
  /** The end of the output. */
  readonly tail: string
}

export interface CheckOptions {
  /** Starts a command in the walls; what it started ends with it. */
  readonly launch: (command: { readonly file: string; readonly args: readonly string[] }) => Promise<Child>
  readonly command: string
  /** Undefined: for as long as it works. */
  readonly timeoutMs: number | undefined
  /** True while nothing may run for the task: then it is no fault of the check's that it does not work. */
  readonly isHeld?: (() => boolean) | undefined
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly redactor: Pick<Redactor, 'stream' | 'text'>
  /** Where the output is kept. */
  readonly file: string
  readonly limits?: OutputLimits
  /** Of a check that says nothing of its time: so long it may neither print nor work. */
  readonly quietMs?: number
}

export interface OutputLimits {
  /** So much is kept. */
  readonly keptBytes: number
  /** A check that prints more is ended. */
  readonly mostBytes: number
  readonly tailBytes: number
}

const usualQuietMs = 600_000
/** So long a check that says nothing of its time may take, however much it works. */
const longestMs = 4 * 60 * 60_000
const usual: OutputLimits = { keptBytes: 10_000_000, mostBytes: 200_000_000, tailBytes: 8_000 }
const graceMs = 2_000
const longestLine = 65_536

/** Runs one command to its end, whatever it does. Both outputs go into one file, line by line as they come and without secrets. */
export async function runCheck(options: CheckOptions): Promise<CheckEnd> {
  const { command, timeoutMs, signal, clock, limits = usual, quietMs = usualQuietMs } = options
  // Without its settings: bash takes the pipe that it reads from for a network and would read ~/.bashrc.
  const child = await options.launch({ file: 'bash', args: ['--noprofile', '--norc', '-c', command] })
  let why: string | null = null
  const end = (reason: string) => {
    why ??= reason
    void child.stop({ graceMs }).catch(() => undefined)
  }
  const mostMs = timeoutMs ?? longestMs
  const cancel = clock.after(mostMs, () => end(`it took longer than ${lengthOf(mostMs)}`))
  const work = new WorkWatch({
    clock,
    limits: { idleMs: quietMs, busyMs: longestMs, callMs: longestMs },
    use: () => useOf(child.pid),
    onStall() {
      if (options.isHeld?.()) return work.start()
      end(`it has neither printed anything nor used the CPU for ${lengthOf(quietMs)}; "timeout" says how long a check may take`)
    },
    onOverlong: () => undefined,
  })
  if (timeoutMs === undefined) work.start()
  const abort = () => end('the run was stopped')
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  const kept = keepOutput(options, limits, () => end(`it printed more than ${Math.round(limits.mostBytes / 1_000_000)} MB`))
  try {
    child.stdin.on('error', () => undefined).end()
    const told = () => work.sign('news')
    await Promise.all([kept.take(child.stdout, told), kept.take(child.stderr, told)])
    const exit = await child.exited
    if (why === null && exit.code === null) why = `it was ended by ${exit.signal ?? 'a signal'}`
    return { exitCode: why === null ? exit.code : null, why, ...(await kept.close()) }
  } finally {
    cancel()
    work.stop()
    signal.removeEventListener('abort', abort)
    await child.stop({ graceMs: 0 })
    await kept.close()
  }
}

function keepOutput({ file, redactor }: CheckOptions, limits: OutputLimits, onFlood: () => void) {
  const to = createWriteStream(file, { flags: 'w', mode: 0o600 })
  let lost: Error | undefined
  to.on('error', (error) => {
    lost = error
  })
  const digest = createHash('sha256')
  let [printed, size] = [0, 0]
  let tail = Buffer.alloc(0)
  let closing: Promise<{ outputDigest: string; tail: string }> | undefined

  const write = async (chunk: Buffer): Promise<void> => {
    if (chunk.length === 0) return
    tail = Buffer.concat([tail, chunk]).subarray(-limits.tailBytes)
    await put(to, chunk.subarray(0, Math.max(0, limits.keptBytes - size)))
    size += chunk.length
  }
  const put = async (stream: WriteStream, bytes: Buffer): Promise<void> => {
    if (bytes.length === 0 || lost) return
    digest.update(bytes)
    // One that cannot be written says so by an error event, and calls back all the same.
    await new Promise<void>((written) => void stream.write(bytes, () => written()))
  }

  return {
    async take(stream: AsyncIterable<Buffer>, told: () => void): Promise<void> {
      const clean = redactor.stream()
      let line: Buffer = Buffer.alloc(0)
      // Whole lines, so that what comes on the other output does not fall into the middle of one.
      const add = async (bytes: Buffer): Promise<void> => {
        const said = Buffer.concat([line, bytes])
        const end = said.length > longestLine ? said.length : said.lastIndexOf('\n') + 1
        line = said.subarray(end)
        await write(said.subarray(0, end))
      }
      for await (const chunk of stream) {
        told()
        printed += chunk.length
        if (printed > limits.mostBytes) onFlood()
        else for (const piece of clean.write(chunk)) await add(piece)
      }
      await add(clean.end())
      // Where nothing is kept any more no line is to be ended, and what was printed is counted as it was.
      if (line.length > 0) await write(size >= limits.keptBytes ? line : Buffer.concat([line, Buffer.from('\n')]))
    },
    close() {
      closing ??= (async () => {
        if (size > limits.keptBytes) await put(to, Buffer.from(`\n[pawl: ${size - limits.keptBytes} more bytes are not kept]\n`))
        if (!to.closed) await new Promise<void>((closed) => void to.once('close', closed).end())
        if (lost) throw lost
        // The first sign may be cut in half.
        const end = tail.toString('utf8').replace(/^\uFFFD+/, '')
        return { outputDigest: digest.digest('hex'), tail: redactor.text(end) }
      })()
      return closing
    },
  }
}
