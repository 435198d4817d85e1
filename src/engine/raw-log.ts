import { createWriteStream, type WriteStream } from 'node:fs'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import type { Child } from '../process/child.ts'

/** Raw output of one run beyond this is not kept, and ends the run. */
export const maxRawBytes = 256 * 1024 * 1024

export interface RecordedChild {
  readonly child: Child
  /** Resolves when both files are closed. */
  close(): Promise<void>
}

export interface RecordOptions {
  readonly directory: string
  readonly maxBytes?: number
  readonly onLimit: () => void
  /** A file cannot be written: from here on it has gaps. Called once; what the program prints flows on. */
  readonly onLost?: (error: Error) => void
}

/** Writes what the program prints to stdout.log and stderr.log as it is, on the way to whoever reads it. */
export function recordChild(child: Child, options: RecordOptions): RecordedChild {
  const maxBytes = options.maxBytes ?? maxRawBytes
  let total = 0
  let limited = false
  let lost = false
  const files: WriteStream[] = []

  const tee = (name: string) => {
    const file = createWriteStream(join(options.directory, name), { flags: 'a', mode: 0o600 })
    files.push(file)
    // An error that nobody hears ends the process. The reader matters more than the record, so only the record ends.
    file.on('error', (error) => {
      if (!lost) options.onLost?.(error)
      lost = true
    })
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        if (limited) return done()
        total += chunk.length
        if (total > maxBytes) {
          limited = true
          if (!file.destroyed) file.write(`\n[pawl: output cut at ${maxBytes} bytes]\n`)
          options.onLimit()
          return done()
        }
        if (file.destroyed) return done(null, chunk)
        file.write(chunk, () => done(null, chunk))
      },
    })
  }

  const stdout = child.stdout.pipe(tee('stdout.log'))
  const stderr = child.stderr.pipe(tee('stderr.log'))
  // A stream that is destroyed, because a grandchild holds it open, ends its reader too.
  child.stdout.once('close', () => stdout.end())
  child.stderr.once('close', () => stderr.end())
  return {
    child: { pid: child.pid, stdin: child.stdin, stdout, stderr, exited: child.exited, stop: (how) => child.stop(how) },
    async close() {
      await Promise.all(
        files.map((file) => new Promise<void>((closed) => (file.closed ? closed() : file.once('close', closed).end()))),
      )
    },
  }
}
