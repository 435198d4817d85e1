import { closeSync, openSync, writev } from 'node:fs'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { promisify } from 'node:util'
import type { Redactor } from '../../redact/redactor.ts'
import type { Child } from '../../sandbox/process/child.ts'

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
  // The reader matters more than the record, so only the record ends.
  const onLost = (error: Error) => {
    if (!lost) options.onLost?.(error)
    lost = true
  }
  const open = (stream: Stream) => ({
    file: growingFile(join(options.directory, `${stream}.log`), onLost),
    clean: options.redactor?.stream(),
  })
  const files = { stdout: open('stdout'), stderr: open('stderr') }
  // That it is there says that the program was started here; most say nothing on the other one.
  files.stdout.file.make()

  return {
    write(stream: Stream, chunk: Buffer, done: Done) {
      const { file, clean } = files[stream]
      if (limited) return done(null)
      total += chunk.length
      if (total > maxBytes) {
        limited = true
        const last = clean?.end() ?? Buffer.alloc(0)
        void file.append([last, Buffer.from(`\n[pawl: output cut at ${maxBytes} bytes]\n`)])
        options.onLimit()
        return done(null)
      }
      const kept = clean ? clean.write(chunk) : [chunk]
      if (kept.length === 0 || !file.isGood()) return done(null, chunk)
      void file.append(kept).then(() => done(null, chunk))
    },
    async close(): Promise<void> {
      await Promise.all(
        Object.values(files).map(({ file, clean }) => {
          const last = clean?.end()
          if (last?.length) void file.append([last])
          return file.close()
        }),
      )
    },
  }
}

const writeSome = promisify(writev)

/** A file that is made with its first byte and only grows. After the first failure, which is told, nothing more is written to it. */
function growingFile(path: string, onLost: (error: Error) => void) {
  let fd: number | undefined
  let isGood = true
  let writing: Promise<void> | undefined
  const lose = (error: unknown) => {
    isGood = false
    onLost(error as Error)
  }
  const make = () => {
    try {
      // At once: it takes the file system less time than it takes us to have it done beside our own thread.
      fd ??= openSync(path, 'a', 0o600)
    } catch (error) {
      lose(error)
    }
  }
  const write = async (before: Promise<void> | undefined, pieces: readonly Buffer[]) => {
    await before
    if (isGood) make()
    try {
      for (let rest = [...pieces]; isGood && rest.length > 0; ) {
        const { bytesWritten } = await writeSome(fd!, rest)
        rest = without(rest, bytesWritten)
      }
    } catch (error) {
      lose(error)
    }
  }
  return {
    make,
    isGood: () => isGood,
    /** Resolves when it is written, or lost. */
    append(pieces: readonly Buffer[]): Promise<void> {
      writing = write(writing, pieces)
      return writing
    },
    async close(): Promise<void> {
      await writing
      const closing = fd
      fd = undefined
      isGood = false
      if (closing !== undefined) closeSync(closing)
    },
  }
}

/** What is left after so many bytes: a call of the system may write less than it was given. */
function without(pieces: readonly Buffer[], bytes: number): Buffer[] {
  let skip = bytes
  return pieces.flatMap((piece) => {
    const rest = piece.subarray(Math.min(skip, piece.length))
    skip -= piece.length - rest.length
    return rest.length > 0 ? [rest] : []
  })
}
