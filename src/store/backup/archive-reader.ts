import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import { messageOf, notFound, PawlError } from '../../domain/error.ts'
import {
  BackupHeader,
  BackupManifest,
  type BackupSummary,
  type FrameKind,
  frameHead,
  longestBlock,
  longestOf,
  magic,
  PartBegin,
  PartEnd,
  summaryOf,
} from './format.ts'

const decompress = promisify(zstdDecompress)
const readBytes = 1 << 20

/** A part with its content. It must be read to its end before the next one is asked for. */
export interface ReadPart {
  readonly begin: PartBegin
  readonly blocks: AsyncIterable<Buffer>
}

export interface CheckedArchive {
  readonly header: BackupHeader
  readonly manifest: BackupManifest
  readonly summary: BackupSummary
  /** All parts, from the first. */
  parts(): AsyncIterable<ReadPart>
}

/** Reads a backup from its first byte to its last and compares every hash. Refuses one that is cut short, changed, or of a format that is not known here. */
export async function checkArchive(file: string): Promise<CheckedArchive> {
  const parts: BackupManifest['parts'] = []
  let header: BackupHeader | undefined
  let manifest: BackupManifest | undefined
  let bytes = 0
  const whole = createHash('sha256')
  let isEnded = false
  for await (const { kind, payload, head, isLast } of frames(file, (piece) => whole.update(piece))) {
    if (isEnded) throw broken(file, 'something follows its end')
    if (kind === 'z') {
      if (!payload.equals(whole.digest())) throw broken(file, 'its hash is another than the one it ends with')
      if (!isLast) throw broken(file, 'something follows its end')
      isEnded = true
    } else whole.update(head).update(payload)
    bytes += head.length + payload.length
    if (kind === 'h') header = parse(file, BackupHeader, payload)
    if (kind === 'm') manifest = parse(file, BackupManifest, payload)
  }
  if (!isEnded || !header || !manifest) throw broken(file, 'it ends before its end: it was never finished, or was cut')
  for await (const { begin, blocks } of partsOf(file)) {
    const digest = createHash('sha256')
    let size = 0
    for await (const block of blocks) {
      digest.update(block)
      size += block.length
    }
    parts.push({ ...begin, bytes: size, sha256: digest.digest('hex') })
  }
  const wrong = manifest.parts.find(
    ({ rows: _, ...part }, n) => JSON.stringify(sorted(part)) !== JSON.stringify(sorted(parts[n] ?? {})),
  )
  if (wrong || parts.length !== manifest.parts.length)
    throw broken(file, `its part ${wrong ? nameOf(wrong) : parts.length} is not what its manifest says`)
  return { header, manifest, summary: summaryOf(header, manifest, bytes + magic.length), parts: () => partsOf(file) }
}

const nameOf = (part: PartBegin) => (part.part === 'table' ? `table ${part.name}` : part.path)
const sorted = (value: object) => Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))

/** Only the header and the manifest, without looking at what lies between them. Undefined if it is no whole backup. */
export async function peekArchive(file: string): Promise<BackupSummary | undefined> {
  let header: BackupHeader | undefined
  let handle: FileHandle | undefined
  try {
    handle = await open(file, 'r')
    const { size } = await handle.stat()
    const start = await readAt(handle, 0, magic.length)
    if (!start.equals(magic)) return undefined
    for (let at = magic.length; at < size; ) {
      const head = await readAt(handle, at, frameHead)
      const length = head.readUInt32BE(1)
      const kind = head.toString('latin1', 0, 1) as FrameKind
      if (head.length < frameHead || length > longestOf(kind)) return undefined
      if (kind === 'h') header = parse(file, BackupHeader, await readAt(handle, at + frameHead, length))
      if (kind === 'm' && header) {
        const end = at + 2 * frameHead + length + 32
        return end === size
          ? summaryOf(header, parse(file, BackupManifest, await readAt(handle, at + frameHead, length)), size)
          : undefined
      }
      at += frameHead + length
    }
    return undefined
  } catch {
    // Whatever it is, it is no backup that could be offered.
    return undefined
  } finally {
    await handle?.close()
  }
}

async function* partsOf(file: string): AsyncGenerator<ReadPart> {
  const all = frames(file)[Symbol.asyncIterator]()
  try {
    for (let found = await all.next(); !found.done; found = await all.next()) {
      if (found.value.kind !== 'p') continue
      const begin = parse(file, PartBegin, found.value.payload)
      let isRead = false
      const blocks = (async function* () {
        // The next block is on its way while this one is used.
        let ahead: Promise<Buffer> | undefined
        for (let inner = await all.next(); !inner.done; inner = await all.next()) {
          const { kind, payload } = inner.value
          if (kind === 'd') {
            const before = ahead
            ahead = decompress(payload, { maxOutputLength: longestBlock }).catch((error: unknown) => {
              throw broken(file, `a block of ${nameOf(begin)} cannot be read (${messageOf(error)})`)
            })
            if (before) yield before
          } else {
            if (kind !== 'e') throw broken(file, `${nameOf(begin)} has no end`)
            parse(file, PartEnd, payload)
            if (ahead) yield ahead
            isRead = true
            return
          }
        }
      })()
      yield { begin, blocks }
      if (!isRead) for await (const _ of blocks);
    }
  } finally {
    await all.return?.(undefined)
  }
}

interface Frame {
  readonly kind: FrameKind
  readonly head: Buffer
  readonly payload: Buffer
  readonly isLast: boolean
}

async function* frames(file: string, onMagic?: (piece: Buffer) => void): AsyncGenerator<Frame, void, undefined> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw notFound(`There is no file ${file}.`)
    throw unusable(`The file ${file} cannot be read (${error.code}).`)
  })
  try {
    const { size } = await handle.stat()
    let at = 0
    let buffer: Buffer = Buffer.alloc(0)
    const take = async (length: number): Promise<Buffer> => {
      if (buffer.length < length) {
        const wanted = Math.min(Math.max(length, readBytes), size - at)
        const more = await readAt(handle, at, wanted)
        at += more.length
        buffer = buffer.length === 0 ? more : Buffer.concat([buffer, more])
        if (buffer.length < length) throw broken(file, 'it is cut short')
      }
      const taken = buffer.subarray(0, length)
      buffer = buffer.subarray(length)
      return taken
    }
    if (size < magic.length) throw broken(file, 'it is too short')
    const start = await take(magic.length)
    if (!start.equals(magic))
      throw unusable(
        start.toString('latin1').startsWith('PAWLBAK')
          ? `${file} is a backup of a newer Pawl; restore it with that.`
          : `${file} is no backup of Pawl.`,
      )
    onMagic?.(start)
    while (at < size || buffer.length > 0) {
      const head = await take(frameHead)
      const length = head.readUInt32BE(1)
      const kind = head.toString('latin1', 0, 1) as FrameKind
      if (length > longestOf(kind)) throw broken(file, 'it holds what was never written')
      const payload = await take(length)
      yield { kind, head, payload, isLast: at === size && buffer.length === 0 }
    }
  } finally {
    await handle.close()
  }
}

async function readAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  let read = 0
  while (read < length) {
    const { bytesRead } = await handle.read(buffer, read, length - read, at + read)
    if (bytesRead === 0) break
    read += bytesRead
  }
  return buffer.subarray(0, read)
}

function parse<T>(file: string, schema: { parse(value: unknown): T }, payload: Buffer): T {
  try {
    return schema.parse(JSON.parse(payload.toString('utf8')))
  } catch {
    throw broken(file, 'a description in it cannot be read')
  }
}

/** Not the fault of whoever named it, as a wrong word on the command line would be. */
const unusable = (message: string) => new PawlError('unavailable', message)

const broken = (file: string, why: string) =>
  unusable(
    `The backup ${file} is damaged: ${why}. Nothing was changed; use another one ("pawl backup verify FILE" looks at a file).`,
  )
