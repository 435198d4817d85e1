import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { unavailable } from '../../domain/error.ts'
import { headerIn, type RawHeaders } from '../base/headers.ts'

/** The bytes of a body, as they come. */
export interface Source {
  /** Called once. What came before is told at once. */
  read(reader: Reader): void
  pause(): void
  resume(): void
  /** No more is wanted: it ends here, unless it has ended. */
  destroy(): void
}

export interface Reader {
  data(bytes: Buffer): void
  /** The last that is told, once. */
  end(isWhole: boolean): void
}

/** The body as it was before it was packed: some providers pack it though they were asked not to. */
export function unpacked(answer: Source & { readonly headers: RawHeaders }): Source {
  const encoding = headerIn(answer.headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity' || encoding === '') return answer
  const unpack = unpackers[encoding]
  if (unpack) return through(answer, unpack())
  answer.destroy()
  throw unavailable(
    `The provider packed its answer as "${encoding.slice(0, 40)}", which nobody asked for and nobody here can read.`,
  )
}

function through(source: Source, unpacker: Transform): Source {
  let reader: Reader | undefined
  let isCut = false
  const end = (isWhole: boolean) => {
    const told = reader
    reader = undefined
    told?.end(isWhole)
  }
  return {
    read(to) {
      reader = to
      unpacker.on('data', (bytes: Buffer) => reader?.data(bytes))
      unpacker.once('end', () => {
        end(!isCut)
        source.destroy()
      })
      unpacker.once('error', () => {
        source.destroy()
        end(false)
      })
      unpacker.once('close', () => end(false))
      unpacker.on('drain', () => source.resume())
      source.read({
        data(bytes) {
          if (!unpacker.write(bytes)) source.pause()
        },
        end(isWhole) {
          isCut = !isWhole
          unpacker.end()
        },
      })
    },
    pause: () => void unpacker.pause(),
    resume: () => void unpacker.resume(),
    destroy() {
      source.destroy()
      unpacker.destroy()
    },
  }
}

const unpackers: Partial<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}
