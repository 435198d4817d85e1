import { constants, lstatSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { notFound } from '../domain/error.ts'
import type { RunLogPart } from '../domain/view/run-log.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import type { Redactor } from '../redact/redactor.ts'
import { isAbsence, noFollow } from '../sandbox/files/directory-handle.ts'
import type { Db } from '../store/database.ts'
import { runsOfTask } from '../store/runs.ts'

/** What the program of a run wrote, as it wrote it. */
export interface RunLogVerbs {
  /** A piece of it: `length` bytes from `start` on, or as many from the end if there is no start. */
  readRunLog(task: string, run: string, which: RunLogPiece): Promise<RunLogPart>
  /** All of it, to be read bit by bit and closed. What looks like a secret is covered in its place, so every part is where the file has it. */
  openRunLog(task: string, run: string, stream: RunLogPiece['stream']): Promise<RunLogContent>
}

export interface RunLogPiece {
  readonly stream: 'stdout' | 'stderr'
  readonly start?: number | undefined
  readonly length: number
}

export interface RunLogContent {
  readonly size: number
  /** From one place to another, the second not included. */
  bytes(range: { from: number; to: number }): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

export interface RunLogParts {
  readonly db: Db
  readonly home: string
  readonly redactor?: Pick<Redactor, 'inPlace'> | undefined
}

export function runLogVerbs({ db, home, redactor }: RunLogParts): RunLogVerbs {
  async function fileOf(task: string, run: string, stream: RunLogPiece['stream']): Promise<FileHandle> {
    const runs = await translateDbErrors(() => runsOfTask(db, task))
    if (!runs.some(({ id }) => id === run))
      throw notFound(`Task ${task} has no run ${run}; "pawl show ${task}" lists those it has.`)
    const folder = join(home, 'runs', run)
    const file = (await opened(join(folder, `${stream}.log`))) ?? (await emptyIfSilent(folder, stream))
    if (!file) throw notFound(`Run ${run} has no raw ${stream} on this machine: it was not started, or it ran on another one.`)
    return file
  }
  return {
    async openRunLog(task, run, stream) {
      const file = await fileOf(task, run, stream)
      try {
        const { size } = await file.stat()
        return {
          size,
          bytes: (range) => coveredBlocks(file, size, range, (bytes) => redactor?.inPlace(bytes) ?? bytes),
          close: () => file.close(),
        }
      } catch (error) {
        await file.close()
        throw error
      }
    },

    async readRunLog(task, run, { stream, start, length }) {
      const file = await fileOf(task, run, stream)
      try {
        const { size } = await file.stat()
        const from = Math.min(start ?? Math.max(0, size - length), size)
        const to = Math.min(from + length, size)
        const pieces: Buffer[] = []
        // Secrets that were known are not in the file; what only looks like one may be, also across the edges of a piece.
        for await (const piece of coveredBlocks(file, size, { from, to }, (bytes) => redactor?.inPlace(bytes) ?? bytes))
          pieces.push(piece)
        const whole = wholeSigns(Buffer.concat(pieces), { isStart: from === 0, isEnd: to >= size })
        return {
          run,
          stream,
          start: from + whole.skipped,
          end: from + whole.skipped + whole.bytes.length,
          size,
          text: whole.bytes.toString('utf8'),
        }
      } finally {
        await file.close()
      }
    },
  }
}

const blockBytes = 1024 * 1024
/** As much as a secret is long: a block is looked at with its neighbours' nearest. */
const overlapBytes = 16 * 1024

/** Blocks lie where they lie whatever is asked for, so a part has the same bytes as the whole has there. */
async function* coveredBlocks(
  file: FileHandle,
  size: number,
  { from, to }: { from: number; to: number },
  cover: (bytes: Buffer) => Buffer,
): AsyncGenerator<Buffer> {
  for (let block = from - (from % blockBytes); block < to; block += blockBytes) {
    const first = Math.max(0, block - overlapBytes)
    const bytes = Buffer.alloc(Math.min(size, block + blockBytes + overlapBytes) - first)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, first)
    if (bytesRead < bytes.length) throw new Error('the raw log has become shorter while it was read')
    yield cover(bytes).subarray(Math.max(from, block) - first, Math.min(to, block + blockBytes, size) - first)
  }
}

/** A program that was started here and said nothing on stderr has no file of it. */
async function emptyIfSilent(folder: string, stream: RunLogPiece['stream']): Promise<FileHandle | undefined> {
  const isThere = (file: string) => lstatSync(join(folder, file), { throwIfNoEntry: false }) !== undefined
  return stream === 'stderr' && !isThere('stderr.log') && isThere('stdout.log') ? open('/dev/null') : undefined
}

async function opened(path: string): Promise<FileHandle | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | noFollow)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (error) {
    if (!isAbsence(error)) throw error
  }
  return undefined
}

/** Without the halves of signs at either end: the pieces before and after have them. */
function wholeSigns(bytes: Buffer, { isStart, isEnd }: { isStart: boolean; isEnd: boolean }): { bytes: Buffer; skipped: number } {
  let skipped = 0
  while (!isStart && skipped < 3 && skipped < bytes.length && isInside(bytes[skipped]!)) skipped++
  let end = bytes.length
  if (!isEnd) {
    let last = end - 1
    while (last > skipped && end - last < 4 && isInside(bytes[last]!)) last--
    if (last > skipped && lengthOf(bytes[last]!) > end - last) end = last
  }
  return { bytes: bytes.subarray(skipped, end), skipped }
}

const isInside = (byte: number) => (byte & 0xc0) === 0x80
const lengthOf = (byte: number) => (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1)
