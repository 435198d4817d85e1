import { createHash } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { zstdCompress } from 'node:zlib'
import { fp } from '../../base/failpoint.ts'
import { unavailable } from '../../domain/error.ts'
import {
  type BackupHeader,
  type BackupManifest,
  type FrameKind,
  frameHead,
  longestOf,
  magic,
  type PartBegin,
  type PartEnd,
} from './format.ts'

const compress = promisify(zstdCompress)
/** Blocks that are compressed at once, each in a thread of its own. */
const atOnce = 3

/** Writes a backup beside its name and puts it there when it is whole and on disk: under its own name there is never half of one. */
export interface ArchiveWriter {
  part(begin: PartBegin, blocks: AsyncIterable<Buffer>): Promise<PartEnd>
  /** Answers how many bytes the file has. */
  finish(audit: BackupManifest['audit']): Promise<{ manifest: BackupManifest; bytes: number }>
  abandon(): Promise<void>
}

export const unfinishedSuffix = '.unfinished'

export async function createArchive(file: string, header: BackupHeader): Promise<ArchiveWriter> {
  const temporary = `${file}.${process.pid}${unfinishedSuffix}`
  const handle = await open(temporary, 'w', 0o600)
  const whole = createHash('sha256')
  const parts: BackupManifest['parts'] = []
  let bytes = 0
  const put = async (piece: Uint8Array) => {
    whole.update(piece)
    bytes += piece.length
    await writeAll(handle, piece)
  }
  const frame = async (kind: FrameKind, payload: Uint8Array) => {
    const head = Buffer.alloc(frameHead)
    head.write(kind, 'latin1')
    head.writeUInt32BE(payload.length, 1)
    await put(head)
    await put(payload)
  }
  const say = (kind: FrameKind, value: unknown) => frame(kind, Buffer.from(JSON.stringify(value)))
  const abandon = async () => {
    await handle.close().catch(() => undefined)
    await rm(temporary, { force: true })
  }
  try {
    await put(magic)
    await say('h', header)
  } catch (error) {
    await abandon()
    throw error
  }

  return {
    async part(begin, blocks) {
      await say('p', begin)
      const digest = createHash('sha256')
      const underWay: Promise<Buffer>[] = []
      let size = 0
      let rows = 0
      const next = async () => frame('d', await underWay.shift()!)
      try {
        for await (const block of blocks) {
          digest.update(block)
          size += block.length
          if (begin.part === 'table') rows += linesIn(block)
          underWay.push(compress(block))
          if (underWay.length >= atOnce) await next()
        }
        while (underWay.length > 0) await next()
      } finally {
        // What fails here has nobody else to hear of it.
        await Promise.allSettled(underWay)
      }
      const end: PartEnd = { bytes: size, ...(begin.part === 'table' ? { rows } : {}), sha256: digest.digest('hex') }
      await say('e', end)
      parts.push({ ...begin, ...end })
      await fp('backup.part')
      return end
    },
    async finish(audit) {
      const manifest = { parts, audit }
      const described = Buffer.from(JSON.stringify(manifest))
      // A file that nobody could read again would be no backup.
      if (described.length > longestOf('m'))
        throw unavailable(`There are too many files (${parts.length}) for one backup; leave out workspaces or logs.`)
      await frame('m', described)
      await frame('z', whole.copy().digest())
      await handle.sync()
      await handle.close()
      await fp('backup.written')
      await rename(temporary, file)
      await syncFolder(dirname(file))
      await fp('backup.renamed')
      return { manifest, bytes }
    },
    abandon,
  }
}

/** In COPY's text format a row is a line, and a line break inside a value is written as two signs. */
function linesIn(block: Buffer): number {
  let count = 0
  for (let at = block.indexOf(10); at !== -1; at = block.indexOf(10, at + 1)) count++
  return count
}

async function writeAll(handle: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) at += (await handle.write(piece, at)).bytesWritten
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
