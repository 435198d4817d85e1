import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createLineSplitter, lineBatches } from '../src/sandbox/process/lines.ts'
import { type Benchmark, type Figure, interleave, median, mib, timed } from './figure.ts'

const megabytes = 96
const lineBytes = 450
const warmUps = 3
const rounds = 15
const hugeLines = 5

export const benchmark: Benchmark = {
  about: 'lines of 450 bytes from a stream, against node:readline',
  async measure() {
    // First, because a process begins with the highest mark of memory of the one that started it.
    const extra = await interleave(
      hugeLines,
      () => hugeLine('ours'),
      () => hugeLine('readline'),
    )
    // Both kinds of text: readline is quick on plain ASCII and slow on the rest, so either alone would tell half of it.
    const plain = chunksOf('x'.repeat(419))
    const mixed = chunksOf('ä'.repeat(20) + 'x'.repeat(379))
    const speeds = [
      await compare('splitter MB/s, callbacks, plain ASCII', plain, callbacks, lineEvents, '≥ 2x'),
      await compare('splitter MB/s, callbacks, some not ASCII', mixed, callbacks, lineEvents, '≥ 2x'),
      await compare('splitter MB/s, for await, plain ASCII', plain, batches, lineIterator, '≥ 2x'),
      await compare('splitter MB/s, for await, some not ASCII', mixed, batches, lineIterator, '≥ 2x'),
      // What is left if splitting costs nothing: every line must become text, by us and by anybody.
      await compare('decoding alone MB/s, plain ASCII', plain, decodeOnly, lineEvents),
    ]
    const wrong = await wrongSplits()
    const ours = median(extra.ours)
    const peer = median(extra.peer)
    return [
      ...speeds,
      { name: 'splitter wrong splits', ours: String(wrong), peer: '', target: '0', isMet: wrong === 0 },
      {
        name: 'splitter RSS over a 50 MB line',
        ours: mib(ours),
        peer: `${mib(peer)} readline`,
        ratio: ours / peer,
        target: '≤ 64 MiB',
        isMet: ours <= 64 * 1024 * 1024,
      },
    ]
  },
}

/** Reads the stream to its end and tells how many whole lines it saw. */
type Reader = (input: Readable) => Promise<number>

async function compare(name: string, chunks: readonly Buffer[], ours: Reader, peer: Reader, target?: string): Promise<Figure> {
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  const speedOf = (read: Reader) => async () => {
    let count = 0
    const spentMs = await timed(async () => {
      count = await read(Readable.from(chunks, { objectMode: false }))
    })
    if (count !== bytes / lineBytes) throw new Error(`${read.name} found ${count} lines instead of ${bytes / lineBytes}.`)
    return bytes / 1e6 / (spentMs / 1000)
  }
  await interleave(warmUps, speedOf(ours), speedOf(peer))
  const speeds = await interleave(rounds, speedOf(ours), speedOf(peer))
  const ratio = median(speeds.ours) / median(speeds.peer)
  return {
    name,
    ours: median(speeds.ours).toFixed(0),
    peer: `${median(speeds.peer).toFixed(0)} readline`,
    ratio,
    target: target ?? '',
    isMet: target === undefined ? undefined : ratio >= 2,
  }
}

/** Reads the last character, which makes one piece of a text that was only joined, as parsing it would. */
const isWhole = (text: string) => text.charCodeAt(text.length - 1) === 0x7d

const callbacks: Reader = (input) =>
  new Promise((done) => {
    let count = 0
    const splitter = createLineSplitter({
      onLine: (text) => {
        if (isWhole(text)) count++
      },
    })
    input.on('data', (chunk: Buffer) => splitter.push(chunk))
    input.on('end', () => {
      splitter.end()
      done(count)
    })
  })

const lineEvents: Reader = (input) =>
  new Promise((done) => {
    let count = 0
    const reader = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
    reader.on('line', (text) => {
      if (isWhole(text)) count++
    })
    reader.on('close', () => done(count))
  })

const batches: Reader = async (input) => {
  let count = 0
  for await (const batch of lineBatches(input)) {
    for (const line of batch) if (isWhole(line.text)) count++
  }
  return count
}

const lineIterator: Reader = async (input) => {
  let count = 0
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) if (isWhole(text)) count++
  return count
}

const decodeOnly: Reader = (input) =>
  new Promise((done) => {
    let length = 0
    input.on('data', (chunk: Buffer) => {
      length += chunk.toString('utf8').length
    })
    input.on('end', () => done(length / lineBytes))
  })

/** Every cut of a text with separators that are none and characters of two to four bytes. */
async function wrongSplits(): Promise<number> {
  const wanted = ['{"a":"x\u2028y\u2029z\u0085"}', 'ä€🙂', '', 'end']
  const whole = Buffer.from(wanted.join('\n'))
  let wrong = 0
  for (let a = 0; a <= whole.length; a++) {
    for (let b = a; b <= whole.length; b++) {
      const got: string[] = []
      const parts = [whole.subarray(0, a), whole.subarray(a, b), whole.subarray(b)]
      for await (const batch of lineBatches(Readable.from(parts))) got.push(...batch.map((line) => line.text))
      if (JSON.stringify(got) !== JSON.stringify(wanted)) wrong++
    }
  }
  return wrong
}

/** In a process of its own, because the highest mark of memory is counted for a whole process. */
async function hugeLine(who: 'ours' | 'readline'): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'huge-line.ts'), who])
  return Number(stdout)
}

/** The same line again and again, cut every 64 KiB as a pipe does. */
function chunksOf(text: string): Buffer[] {
  const line = `${JSON.stringify({ type: 'assistant', text })}\n`
  if (Buffer.byteLength(line) !== lineBytes) throw new Error(`A line has ${Buffer.byteLength(line)} bytes.`)
  const whole = Buffer.from(line.repeat(Math.floor((megabytes * 1e6) / lineBytes)))
  const chunks: Buffer[] = []
  for (let at = 0; at < whole.length; at += 65_536) chunks.push(whole.subarray(at, at + 65_536))
  return chunks
}
