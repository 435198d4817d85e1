import { createHash } from 'node:crypto'
import { closeSync, existsSync, linkSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Redactor } from '../../redact/redactor.ts'
import { temporarySuffix } from '../../sandbox/files/temporary.ts'
import type { RecordingFolder } from './folder.ts'

export interface KeptFile {
  readonly sha256: string
  readonly size: number
}

interface KeepFileOptions {
  readonly redactor: Pick<Redactor, 'stream'>
  /** Called for each part that was read; may throw to end it. */
  readonly count: (bytes: number) => Promise<void>
}

/** More than this is not held in memory. */
const heldBytes = 1_000_000

/** Keeps what an open file holds, once for all recordings, without the secrets that we know of. */
export async function keepFile(file: number, { files, shared }: RecordingFolder, options: KeepFileOptions): Promise<KeptFile> {
  const digest = createHash('sha256')
  const held: Buffer[] = []
  let size = 0
  let made: Temporary | undefined
  try {
    for await (const bytes of partsOf(file, options)) {
      digest.update(bytes)
      held.push(bytes)
      size += bytes.length
      if (size <= heldBytes) continue
      made ??= temporaryIn(shared)
      made.write(held.splice(0))
    }
    const sha256 = digest.digest('hex')
    const [own, common] = [join(files, sha256), join(shared, sha256)]
    // Most files are small and as they were at the last recording: nothing is written for them.
    if (isLinked(common, own) || existsSync(own)) return { sha256, size }
    made ??= temporaryIn(shared)
    made.write(held)
    // The recording's own name comes first: from then on nobody can take the content away from it.
    if (isLinked(made.path, own)) renameSync(made.path, common)
    return { sha256, size }
  } finally {
    made?.end()
  }
}

async function* partsOf(file: number, { redactor, count }: KeepFileOptions): AsyncGenerator<Buffer> {
  const hidden = redactor.stream()
  const buffer = Buffer.allocUnsafe(256 * 1024)
  for (;;) {
    const read = readSync(file, buffer, 0, buffer.length, null)
    await count(read)
    if (read === 0) break
    yield* hidden.write(Buffer.from(buffer.subarray(0, read)))
  }
  yield hidden.end()
}

interface Temporary {
  readonly path: string
  write(parts: readonly Buffer[]): void
  /** Nothing of it stays under its own name. */
  end(): void
}

function temporaryIn(folder: string): Temporary {
  const path = join(folder, temporarySuffix())
  const file = openSync(path, 'wx', 0o600)
  return {
    path,
    write(parts) {
      for (const bytes of parts) for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
    },
    end() {
      closeSync(file)
      rmSync(path, { force: true })
    },
  }
}

/** False if there is nothing to link, it is linked already, or has more names than a file may have. */
function isLinked(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'EEXIST' || code === 'EMLINK') return false
    throw error
  }
}
