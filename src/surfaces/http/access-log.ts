import { closeSync, fstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import type { Log } from '../../base/log.ts'
import { messageOf } from '../../domain/error.ts'

/** One line per request, whatever became of it. Without query and body: values there may be private. */
export interface AccessLog {
  write(entry: AccessEntry): void
  /** Everything written so far is with the file system. May be called twice. */
  close(): void
}

export interface AccessEntry {
  readonly at: string
  readonly peer: string
  /** The user and the token that let them in; null for nobody. */
  readonly actor: string | null
  readonly token: string | null
  readonly method: string
  readonly path: string
  readonly status: number
  readonly ms: number
}

const lingerMs = 100

/** Readable by its owner alone. Grown too large, the file is put aside as `.1`, and what was `.1` as `.2`, as far as `keep` goes. */
export function createAccessLog(options: { file: string; log: Log; maxBytes?: number; keep?: number }): AccessLog {
  const { file, log, maxBytes = 10 * 1024 * 1024, keep = 5 } = options
  let handle = openSync(file, 'a', 0o600)
  let size = fstatSync(handle).size
  let waiting = ''
  let timer: NodeJS.Timeout | undefined
  let isBroken = false

  const rotate = () => {
    rmSync(`${file}.${keep}`, { force: true })
    for (let n = keep - 1; n >= 0; n--) {
      try {
        renameSync(n === 0 ? file : `${file}.${n}`, `${file}.${n + 1}`)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
    const full = handle
    handle = openSync(file, 'a', 0o600)
    size = 0
    // Last: whatever fails before, there is a file to write to, and its number is not somebody else's by now.
    closeSync(full)
  }
  /** Once, until a line was written again as it should be. */
  const complain = (what: string, error: unknown) => {
    if (!isBroken) log.error(what, { file, error: messageOf(error), reason: 'access_log' })
    isBroken = true
  }
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const bytes = Buffer.from(waiting)
    waiting = ''
    if (bytes.length === 0) return
    try {
      // A file that cannot be put aside is too large, which is better than not written.
      if (size > 0 && size + bytes.length > maxBytes) rotate()
    } catch (error) {
      complain('the access log cannot be put aside', error)
    }
    try {
      // Appending a few hundred bytes to a file takes less than handing them to another thread.
      writeSync(handle, bytes)
      size += bytes.length
      if (size <= maxBytes) isBroken = false
    } catch (error) {
      complain('the access log cannot be written', error)
    }
  }

  return {
    write(entry) {
      waiting += `${JSON.stringify(entry)}\n`
      if (waiting.length > 64 * 1024) flush()
      else timer ??= setTimeout(flush, lingerMs)
    },
    close() {
      if (handle < 0) return
      flush()
      closeSync(handle)
      handle = -1
    },
  }
}
