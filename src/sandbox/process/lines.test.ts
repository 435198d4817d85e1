import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLineSplitter, type Line, type LineOptions, lineBatches } from './lines.ts'

function split(chunks: readonly (string | Buffer)[], options: LineOptions = {}): Line[] {
  const lines: Line[] = []
  const splitter = createLineSplitter({ ...options, onLine: (text, truncatedBytes) => lines.push({ text, truncatedBytes }) })
  for (const chunk of chunks) splitter.push(Buffer.from(chunk as string))
  splitter.end()
  return lines
}
const texts = (chunks: readonly (string | Buffer)[], options: LineOptions = {}) => split(chunks, options).map((line) => line.text)

test('a line ends at a newline and nowhere else', () => {
  const odd = 'a\u2028b\u2029c\u0085d\re\vf\fg\0h'
  expect(texts([`${odd}\nnext\n`])).toEqual([odd, 'next'])
})

test('one carriage return before the newline is stripped, wherever the chunks fall', () => {
  expect(texts(['a\r\nb\r\r\n\r\nc\r'])).toEqual(['a', 'b\r', '', 'c'])
  expect(texts(['a\r', '\nb', '\r', '\n'])).toEqual(['a', 'b'])
})

test('an empty line between newlines is a line, and nothing after the last newline is not', () => {
  expect(texts(['\n\na\n'])).toEqual(['', '', 'a'])
  expect(texts([])).toEqual([])
  expect(texts(['a'])).toEqual(['a'])
})

test('a character split between chunks stays whole', () => {
  const bytes = Buffer.from('é€😀\n😀')
  expect(texts([...bytes].map((byte) => Buffer.from([byte])))).toEqual(['é€😀', '😀'])
})

test('bytes that are not UTF-8 become replacement characters of their own line only', () => {
  expect(texts([Buffer.from([0x61, 0xff, 0xc3, 0x0a, 0xa9, 0x62, 0x0a, 0xe2, 0x82])])).toEqual([
    'a\ufffd\ufffd',
    '\ufffdb',
    '\ufffd',
  ])
})

test('a line over the cap is cut, its rest is counted, and the next line is whole', () => {
  expect(split(['0123456789abc', 'def\nnext\n'], { maxBytes: 10 })).toEqual([
    { text: '0123456789', truncatedBytes: 6 },
    { text: 'next', truncatedBytes: 0 },
  ])
  expect(split(['0123456789\n0123456789x\r\n'], { maxBytes: 10 })).toEqual([
    { text: '0123456789', truncatedBytes: 0 },
    { text: '0123456789', truncatedBytes: 2 },
  ])
})

test('a cap inside a character leaves the character out', () => {
  expect(split(['abc😀d\n'], { maxBytes: 5 })).toEqual([{ text: 'abc', truncatedBytes: 3 }])
})

test('however the bytes are cut into chunks, the lines are those of the whole', () => {
  const piece = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('\n', '\r\n', '\r', '\u2028', '\0', '😀'.repeat(40)))
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.nat(200)), (pieces, cuts) => {
      const whole = Buffer.from(pieces.join(''))
      const chunks: Buffer[] = []
      let from = 0
      for (const cut of cuts) {
        chunks.push(whole.subarray(from, from + cut))
        from = Math.min(whole.length, from + cut)
      }
      chunks.push(whole.subarray(from))
      const expected = whole.toString().split('\n')
      if (expected.at(-1) === '') expected.pop()
      expect(texts(chunks)).toEqual(expected.map((line) => line.replace(/\r$/, '')))
    }),
  )
})

test('a line of more than a megabyte is whole, wherever its characters, its return and its chunks fall', () => {
  for (const length of [999_997, 999_998, 999_999, 1_000_000, 1_000_001, 2_000_000]) {
    const text = `${'x'.repeat(length)}€😀`
    const bytes = Buffer.from(`${text}\r\nnext\n`)
    const chunks = [
      bytes.subarray(0, 7),
      bytes.subarray(7, 70_000),
      bytes.subarray(70_000, length + 2),
      bytes.subarray(length + 2),
    ]
    const [long, next] = texts(chunks, { maxBytes: Infinity })
    expect(long === text).toBe(true)
    expect(next).toBe('next')
    const [cut] = split(chunks, { maxBytes: length + 1 })
    expect(cut?.text === 'x'.repeat(length)).toBe(true)
    expect(cut?.truncatedBytes).toBe(bytes.length - 'next\n'.length - 1 - (length + 1))
  }
})

test('a chunk may be overwritten once it was pushed', () => {
  const lines: string[] = []
  const splitter = createLineSplitter({ onLine: (text) => lines.push(text) })
  const chunk = Buffer.from('whole\nhalf')
  splitter.push(chunk)
  chunk.fill('z')
  splitter.push(Buffer.from(' and half\n'))
  expect(lines).toEqual(['whole', 'half and half'])
})

test('batches hold what each chunk completed', async () => {
  async function* chunks() {
    yield Buffer.from('a\nb\nc')
    yield Buffer.from('c')
    yield Buffer.from('\n')
    yield Buffer.from('d')
  }
  const batches: string[][] = []
  for await (const batch of lineBatches(chunks())) batches.push(batch.map((line) => line.text))
  expect(batches).toEqual([['a', 'b'], ['cc'], ['d']])
})

test('a line of 50 MB takes at most 64 MB more than itself', () => {
  const program = `
    import { createLineSplitter } from ${JSON.stringify(fileURLToPath(new URL('lines.ts', import.meta.url)))}
    const lineBytes = 50 * 1024 * 1024
    let length = 0
    const splitter = createLineSplitter({ maxBytes: Infinity, onLine: (text) => { length = text.length } })
    const before = process.memoryUsage().rss
    splitter.push(Buffer.from('"'))
    for (let sent = 0; sent < lineBytes; sent += 65536) {
      splitter.push(Buffer.alloc(65536, 'x'))
      await new Promise(setImmediate)
    }
    splitter.push(Buffer.from('"\\n'))
    console.log(JSON.stringify({ length, extraMb: (process.resourceUsage().maxRSS * 1024 - before - lineBytes) / 1048576 }))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' })
  const { length, extraMb } = JSON.parse(stdout || stderr) as { length: number; extraMb: number }
  expect(length).toBe(50 * 1024 * 1024 + 2)
  expect(extraMb).toBeLessThan(64)
})
