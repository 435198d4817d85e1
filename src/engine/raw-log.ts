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

/** Writes what the program prints to stdout.log and stderr.log as it is, on the way to whoever reads it. */
export function recordChild(child: Child, options: { directory: string; maxBytes?: number; onLimit: () => void }): RecordedChild {
  const maxBytes = options.maxBytes ?? maxRawBytes
  let total = 0
  let limited = false
  const files: WriteStream[] = []

  const tee = (name: string) => {
    const file = createWriteStream(join(options.directory, name), { flags: 'a', mode: 0o600 })
    files.push(file)
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        if (limited) return done()
        total += chunk.length
        if (total > maxBytes) {
          limited = true
          file.write(`\n[pawl: output cut at ${maxBytes} bytes]\n`)
          options.onLimit()
          return done()
        }
        file.write(chunk, (error) => (error ? done(error) : done(null, chunk)))
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
