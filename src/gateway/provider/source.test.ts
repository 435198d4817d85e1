import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { type Reader, type Source, unpacked } from './source.ts'

/** A body that says what it is told to. */
function hand(encoding: string) {
  let reader: Reader | undefined
  const calls: string[] = []
  const source: Source & { headers: string[] } = {
    headers: ['Content-Encoding', encoding],
    read: (to) => {
      reader = to
    },
    pause: () => void calls.push('pause'),
    resume: () => void calls.push('resume'),
    destroy: () => void calls.push('destroy'),
  }
  let said = ''
  const ended = new Promise<boolean>((resolve) =>
    unpacked(source).read({
      data(bytes) {
        said += bytes.toString()
      },
      end: resolve,
    }),
  )
  return { give: () => reader!, calls, ended, said: () => said }
}

it('a packed body is unpacked to its end', async () => {
  const { give, ended, said } = hand(' GZIP ')
  const packed = gzipSync('a whole answer')
  for (const byte of packed) give().data(Buffer.of(byte))
  give().end(true)
  expect(await ended).toBe(true)
  expect(said()).toBe('a whole answer')
})

it.each([
  ['gzip', gzipSync('all that came', { finishFlush: constants.Z_SYNC_FLUSH })],
  ['br', brotliCompressSync('all that came').subarray(0, -1)],
])('of one that breaks off, packed by %s, what came is told, and that it is not whole', async (encoding, packed) => {
  const { give, ended, said } = hand(encoding)
  give().data(packed)
  give().end(false)
  expect(await ended).toBe(false)
  if (encoding === 'gzip') expect(said()).toBe('all that came')
})

it.each(['gzip', 'br', 'deflate', 'zstd'])(
  'one that is not packed by %s at all is not whole, and no more of it is wanted',
  async (encoding) => {
    const { give, ended, calls } = hand(encoding)
    give().data(Buffer.from('{"plain":true}'))
    give().end(true)
    expect(await ended).toBe(false)
    expect(calls).toContain('destroy')
  },
)

it('what follows the end of a packed body is not waited for', async () => {
  const { give, ended, said, calls } = hand('br')
  give().data(Buffer.concat([brotliCompressSync('done'), Buffer.from('and more')]))
  expect(await ended).toBe(true)
  expect(said()).toBe('done')
  expect(calls).toContain('destroy')
})

it('one that is packed in a way that nobody here knows is refused', async () => {
  await expect(hand('compress').ended).rejects.toThrow('packed its answer as "compress"')
})
