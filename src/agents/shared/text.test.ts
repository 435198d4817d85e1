import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTextFlow, createTextKeeper, lineChars, pieceChars } from './text.ts'

test('a kept text that fits is whole, however it came', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (parts) => {
      const keep = createTextKeeper(10_000)
      for (const part of parts) keep.add(part)
      expect(keep.text()).toBe(parts.join('').replaceAll('\0', '\uFFFD').toWellFormed())
    }),
  )
})

test('a kept text that does not fit has exactly its first and its last half', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z]{0,30}$/), { minLength: 3 }), (parts) => {
      const keep = createTextKeeper(10)
      for (const part of parts) keep.add(part)
      const whole = parts.join('')
      fc.pre(whole.length > 10)
      const missing = `[… ${whole.length - 10} characters left out here; the raw log has them …]`
      expect(keep.text()).toBe(`${whole.slice(0, 5)}\n${missing}\n${whole.slice(-5)}`)
    }),
  )
})

test('the messages of a flow are its lines, wherever the bytes were split', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.array(fc.nat(40)), async (text, cuts) => {
      const written = text.replaceAll('\0', '').replace(/^\uFEFF/, '')
      const { messages, kept } = await flow(split(Buffer.from(written), cuts))
      expect(kept).toBe(written)
      const words = (all: string) => all.split('\n').filter((line) => line.trim() !== '')
      expect(words(messages.join('\n'))).toEqual(words(written))
    }),
  )
})

test('a line that never ends is sent in pieces up to its cap, and the rest is counted', async () => {
  const { messages } = await flow(Array.from({ length: 40 }, () => Buffer.from('é'.repeat(pieceChars))))
  for (const message of messages) expect(message.length).toBeLessThanOrEqual(pieceChars)
  const said = messages.join('')
  expect(said.slice(0, lineChars)).toBe('é'.repeat(lineChars))
  expect(said.slice(lineChars)).toBe(` [… ${24 * pieceChars} characters of this line left out here; the raw log has them …]`)
})

async function flow(chunks: Buffer[]) {
  const messages: string[] = []
  const keep = createTextKeeper()
  const reading = createTextFlow({ keep, send: (text) => void messages.push(text) })
  for (const chunk of chunks) await reading.push(chunk)
  await reading.end()
  return { messages, kept: keep.text() }
}

function split(bytes: Buffer, cuts: number[]): Buffer[] {
  const chunks = cuts.map((size) => {
    const chunk = bytes.subarray(0, size)
    bytes = bytes.subarray(size)
    return chunk
  })
  return [...chunks, bytes]
}
