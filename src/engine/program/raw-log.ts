import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import type { Redactor } from '../../domain/redact/redactor.ts'
import type { Child } from '../../process/child.ts'

/** Raw output of one run beyond this is not kept, and ends the run. */
export const maxRawBytes = 256 * 1024 * 1024

export interface RecordedChild {
  readonly child: Child
  /**
   * Keeps what is printed from now on with this run, or with none. Until the first call what the program prints waits.
   * Resolves when the files of the run before are closed.
   */
  into(run: RecordOptions | undefined): Promise<void>
}

export interface RecordOptions {
  readonly directory: string
  readonly maxBytes?: number
  readonly onLimit: () => void
  /** Keeps secrets out of the files; whoever reads the program still gets what it printed. */
  readonly redactor?: Pick<Redactor, 'stream'>
  /** A file cannot be written: from here on it has gaps. Called once; what the program prints flows on. */
  readonly onLost?: (error: Error) => void
}

type Stream = 'stdout' | 'stderr'

/** Writes what the program prints to stdout.log and stderr.log of the run it prints it for, on the way to whoever reads it. */
export function recordChild(child: Child): RecordedChild {
  let record: Record | undefined
  const bound = Promise.withResolvers<void>()
  let isBound = false

  const tee = (stream: Stream) =>
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        const pass = () => (record ? record.write(stream, chunk, done) : done(null, chunk))
        if (isBound) pass()
        else void bound.promise.then(pass)
      },
    })
  const stdout = child.stdout.pipe(tee('stdout'))
  const stderr = child.stderr.pipe(tee('stderr'))
  // A stream that is destroyed, because a grandchild holds it open, ends its reader too.
  child.stdout.once('close', () => stdout.end())
  child.stderr.once('close', () => stderr.end())
  return {
    child: { pid: child.pid, stdin: child.stdin, stdout, stderr, exited: child.exited, stop: (how) => child.stop(how) },
    async into(run) {
      const before = record
      record = run && openRecord(run)
      isBound = true
      bound.resolve()
      await before?.close()
    },
  }
}

type Record = ReturnType<typeof openRecord>
type Done = (error: null, chunk?: Buffer) => void

function openRecord(options: RecordOptions) {
  const maxBytes = options.maxBytes ?? maxRawBytes
  let total = 0
  let limited = false
  let lost = false
  const open = (stream: Stream) => {
    const file = createWriteStream(join(options.directory, `${stream}.log`), { flags: 'a', mode: 0o600 })
    const clean = options.redactor?.stream()
    // An error that nobody hears ends the process. The reader matters more than the record, so only the record ends.
    file.on('error', (error) => {
      if (!lost) options.onLost?.(error)
      lost = true
    })
    const finish = () => {
      const last = clean?.end()
      if (last?.length && !file.destroyed) file.write(last)
    }
    return { file, clean, finish }
  }
  const files = { stdout: open('stdout'), stderr: open('stderr') }

  return {
    write(stream: Stream, chunk: Buffer, done: Done) {
      const { file, clean, finish } = files[stream]
      if (limited) return done(null)
      total += chunk.length
      if (total > maxBytes) {
        limited = true
        finish()
        if (!file.destroyed) file.write(`\n[pawl: output cut at ${maxBytes} bytes]\n`)
        options.onLimit()
        return done(null)
      }
      if (file.destroyed) return done(null, chunk)
      const kept = clean ? clean.write(chunk) : [chunk]
      const last = kept.at(-1)
      if (!last) return done(null, chunk)
      // All in one call of the system.
      file.cork()
      for (const piece of kept.slice(0, -1)) file.write(piece)
      file.write(last, () => done(null, chunk))
      file.uncork()
    },
    async close(): Promise<void> {
      await Promise.all(
        Object.values(files).map(({ file, finish }) => {
          finish()
          return new Promise<void>((closed) => (file.closed ? closed() : file.once('close', closed).end()))
        }),
      )
    },
  }
}
