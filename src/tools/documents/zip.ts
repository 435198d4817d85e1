import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'
import { PawlError } from '../../domain/error.ts'

const inflate = promisify(inflateRaw)
const mostEntries = 10_000
const mostBytes = 64 * 1024 * 1024
const mostRatio = 100

/** The parts of an archive, read in memory: nothing of it is ever written anywhere. */
export interface Archive {
  readonly names: readonly string[]
  /** Undefined if there is no such part. */
  read(name: string): Promise<Buffer | undefined>
}

export function openArchive(bytes: Buffer): Archive {
  const entries = readDirectory(bytes)
  let taken = 0
  return {
    names: [...entries.keys()],
    async read(name) {
      const entry = entries.get(name)
      if (!entry) return undefined
      const { method, packed, size, offset } = entry
      taken += size
      if (taken > mostBytes || size > Math.max(packed, 1) * mostRatio) throw broken('it unpacks to far more than it holds')
      if (bytes.length < offset + 30 || bytes.readUInt32LE(offset) !== 0x04034b50)
        throw broken('a part is not where it should be')
      const start = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28)
      const data = bytes.subarray(start, start + packed)
      if (method === 0) return data
      if (method !== 8) throw broken('a part is packed in a way that is not known')
      // What the directory says of the size may be a lie.
      return inflate(data, { maxOutputLength: Math.max(size, 1) }).catch(() => {
        throw broken('a part cannot be unpacked')
      })
    },
  }
}

interface Part {
  readonly method: number
  readonly packed: number
  readonly size: number
  readonly offset: number
}

function readDirectory(bytes: Buffer): Map<string, Part> {
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]))
  if (end === -1 || bytes.length < end + 22) throw broken('it has no directory')
  const count = bytes.readUInt16LE(end + 10)
  if (count > mostEntries) throw broken(`it has more than ${mostEntries} parts`)
  const entries = new Map<string, Part>()
  let at = bytes.readUInt32LE(end + 16)
  for (let n = 0; n < count; n++) {
    if (bytes.length < at + 46 || bytes.readUInt32LE(at) !== 0x02014b50) throw broken('its directory is damaged')
    const nameSize = bytes.readUInt16LE(at + 28)
    const name = bytes.toString('utf8', at + 46, at + 46 + nameSize)
    entries.set(name, {
      method: bytes.readUInt16LE(at + 10),
      packed: bytes.readUInt32LE(at + 20),
      size: bytes.readUInt32LE(at + 24),
      offset: bytes.readUInt32LE(at + 42),
    })
    at += 46 + nameSize + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  return entries
}

const broken = (why: string) => new PawlError('unsupported', `The document cannot be read: ${why}.`)
