import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'

/** So much of the end of what is stored must still be there for a file to count as the same one, grown. */
const comparedBytes = 64 * 1024

/** As much of the end of some bytes as is compared, and its digest. */
export const endOf = (bytes: Buffer) => bytes.subarray(-comparedBytes)
export const digestOf = (end: Buffer) => createHash('sha256').update(end).digest()

export const readEnd = (file: FileHandle, end: number) =>
  readAt(file, Math.max(0, end - comparedBytes), Math.min(end, comparedBytes))

export async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}
