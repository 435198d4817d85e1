import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { unavailable } from '../../domain/error.ts'
import { TooLarge } from '../../domain/files/too-large.ts'
import { noFollow } from '../../sandbox/files/directory-handle.ts'
import { namesIn } from '../../sandbox/files/names-in.ts'
import { isTemporary, temporarySuffix } from '../../sandbox/files/temporary.ts'
import {
  deleteUnused,
  findBlob,
  holdBlobs,
  holdBlobsAlone,
  insertBlob,
  knownBlobs,
  partBytes,
  readParts,
} from '../../store/blobs.ts'
import type { Db, Tx } from '../../store/database.ts'

/** What files hold, kept once by its hash: in the database, or above a megabyte in a folder of the home. */
export interface Blobs {
  /** Takes it in, on disk when this resolves; it becomes a blob by `keep`. Rejects with `TooLarge` as soon as it is. */
  receive(content: AsyncIterable<Uint8Array>, options: { maxBytes: number }): Promise<Received>
  /** In the transaction that makes something refer to it. May be done again for the same. */
  keep(tx: Tx, received: Received): Promise<void>
  /** Refuses what is not any more what it was. The caller closes it. */
  read(sha256: string): Promise<BlobContent>
  /** Forgets uploads from before that time and what nothing refers to. */
  sweep(tx: Tx, before: Date): Promise<void>
  /** Removes files that no blob knows, as a crash leaves them. */
  sweepFiles(tx: Tx): Promise<void>
}

export interface Received {
  readonly sha256: string
  readonly size: number
  /** How it begins. */
  readonly head: Uint8Array
  /** All of it, where it is small. */
  readonly bytes?: readonly Uint8Array[] | undefined
  readonly file?: string | undefined
  /** Once it is kept, or not wanted. */
  discard(): Promise<void>
}

export interface BlobContent {
  readonly size: number
  /** From one place to another, the second not included; all of it if nothing is said. */
  bytes(range?: { from: number; to: number }): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

const headBytes = 4_096
const hashForm = /^[0-9a-f]{64}$/

export function createBlobs(options: { db: Db; home: string; clock: Clock; isShared: boolean }): Blobs {
  const { db, clock } = options
  const root = join(options.home, 'blobs')
  const unfinished = join(root, 'unfinished')
  const place = (sha256: string) => ({
    folder: join(root, sha256.slice(0, 2)),
    file: join(root, sha256.slice(0, 2), sha256.slice(2)),
  })

  return {
    async receive(content, { maxBytes }) {
      const hash = createHash('sha256')
      const held: Uint8Array[] = []
      let size = 0
      let head = Buffer.alloc(0)
      let spilled: { path: string; handle: FileHandle } | undefined
      const discard = async () => {
        const { path, handle } = spilled ?? {}
        await handle?.close().catch(() => undefined)
        if (path !== undefined) await rm(path, { force: true })
      }
      try {
        for await (const piece of content) {
          size += piece.length
          if (size > maxBytes) throw new TooLarge(maxBytes)
          hash.update(piece)
          if (head.length < headBytes) head = Buffer.concat([head, piece]).subarray(0, headBytes)
          // Whoever gave it may use the memory again.
          held.push(Uint8Array.prototype.slice.call(piece))
          // Where several machines share the database, what one of them has in a file is nowhere for the others.
          if (size <= partBytes || options.isShared) continue
          if (!spilled) {
            await mkdir(unfinished, { recursive: true, mode: 0o700 })
            const path = join(unfinished, temporarySuffix())
            spilled = { path, handle: await open(path, 'wx', 0o600) }
          }
          await spilled.handle.writev(held.splice(0))
        }
        if (spilled) {
          await spilled.handle.sync()
          await spilled.handle.close()
        }
      } catch (error) {
        await discard()
        throw error
      }
      const bytes = spilled ? undefined : inParts(held)
      return { sha256: hash.digest('hex'), size, head, bytes, file: spilled?.path, discard }
    },

    async keep(tx, { sha256, size, bytes, file }) {
      await holdBlobs(tx)
      if (file !== undefined) await moveInto(place(sha256), file, root)
      await insertBlob(tx, { sha256, size, parts: bytes, at: new Date(clock.now()) })
    },

    async read(sha256) {
      const found = hashForm.test(sha256) ? await findBlob(db, sha256) : undefined
      if (!found) throw damaged(sha256)
      return found.in_file ? fromFile(place(sha256).file, sha256, found.size) : fromParts(await readParts(db, sha256), sha256)
    },

    async sweep(tx, before) {
      await holdBlobsAlone(tx)
      for (const sha256 of await deleteUnused(tx, before)) await rm(place(sha256).file, { force: true })
    },

    async sweepFiles(tx) {
      await holdBlobsAlone(tx)
      for (const folder of namesIn(root)) {
        const names = namesIn(join(root, folder))
        if (folder === 'unfinished') {
          // Those of earlier versions do not say whose they are; the others are swept with all that is half made.
          for (const name of names) if (!isTemporary(name)) await rm(join(unfinished, name), { force: true })
          continue
        }
        const known = await knownBlobs(
          tx,
          names.map((name) => folder + name),
        )
        for (const name of names) if (!known.has(folder + name)) await rm(join(root, folder, name), { force: true })
      }
    },
  }
}

/** The name is on disk before the row is: a row never leads to nothing. What was there is replaced, whatever became of it. */
async function moveInto({ folder, file }: { folder: string; file: string }, from: string, root: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  try {
    await rename(from, file)
  } catch (error) {
    // The transaction is done again.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !(await stat(file).catch(() => undefined))) throw error
  }
  for (const path of [folder, root]) {
    const handle = await open(path, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
}

function inParts(held: readonly Uint8Array[]): Uint8Array[] {
  const whole = Buffer.concat(held)
  const parts: Uint8Array[] = []
  for (let at = 0; at < whole.length; at += partBytes) parts.push(whole.subarray(at, at + partBytes))
  return parts
}

async function fromFile(path: string, sha256: string, size: number): Promise<BlobContent> {
  const handle = await open(path, noFollow).catch((error: unknown) => {
    throw damaged(sha256, error)
  })
  try {
    const hash = createHash('sha256')
    for await (const piece of createReadStream('', { fd: handle.fd, autoClose: false, start: 0 })) hash.update(piece as Buffer)
    if ((await handle.stat()).size !== size || hash.digest('hex') !== sha256) throw damaged(sha256)
  } catch (error) {
    await handle.close()
    throw error
  }
  return {
    size,
    async *bytes({ from, to } = { from: 0, to: size }) {
      if (from >= to) return
      yield* createReadStream('', { fd: handle.fd, autoClose: false, start: from, end: to - 1 }) as AsyncIterable<Buffer>
    },
    close: () => handle.close(),
  }
}

function fromParts(parts: readonly Buffer[], sha256: string): BlobContent {
  const whole = Buffer.concat(parts)
  if (createHash('sha256').update(whole).digest('hex') !== sha256) throw damaged(sha256)
  return {
    size: whole.length,
    async *bytes({ from, to } = { from: 0, to: whole.length }) {
      if (from < to) yield whole.subarray(from, to)
    },
    close: async () => undefined,
  }
}

const damaged = (sha256: string, cause?: unknown) =>
  unavailable(`What is stored under ${sha256} is damaged or gone, so it is not given out; restore it from a backup.`, cause)
