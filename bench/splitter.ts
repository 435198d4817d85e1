import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { lineBatches } from '../src/process/lines.ts'
import { type Benchmark, interleave, median, mib, timed } from './figure.ts'

const megabytes = 96
const rounds = 7

export const benchmark: Benchmark = {
  about: 'lines of 450 bytes from a stream, against node:readline',
  async measure() {
    const plain = await speedOf('plain ASCII', 'x'.repeat(419))
    const mixed = await speedOf('some of it not ASCII', 'ä'.repeat(20) + 'x'.repeat(379))
    const wrong = await wrongSplits()
    const extra = await hugeLine('ours')
    const extraPeer = await hugeLine('readline')
    return [
      plain,
      mixed,
      { name: 'splitter wrong splits', ours: String(wrong), peer: '', target: '0', isMet: wrong === 0 },
      {
        name: 'splitter RSS over a 50 MB line',
        ours: mib(extra),
        peer: `${mib(extraPeer)} readline`,
        ratio: extra / extraPeer,
        target: '≤ 64 MiB',
        isMet: extra <= 64 * 1024 * 1024,
      },
    ]
  },
}

/** Both kinds of text: readline is quick on plain ASCII and slow on the rest, so either alone would tell half of it. */
async function speedOf(what: string, text: string) {
  const line = `${JSON.stringify({ type: 'assistant', text })}\n`
  if (Buffer.byteLength(line) !== 450) throw new Error(`A line has ${Buffer.byteLength(line)} bytes.`)
  const chunks = chunksOf(Buffer.from(line.repeat(Math.floor((megabytes * 1e6) / 450))), 65_536)
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  const lines = bytes / 450
  const speed = (spentMs: number) => bytes / 1e6 / (spentMs / 1000)
  const expect = (count: number, who: string) => {
    if (count !== lines) throw new Error(`${who} found ${count} lines instead of ${lines}.`)
  }
  const sides = await interleave(
    rounds,
    async () => {
      let count = 0
      const spent = await timed(async () => {
        for await (const batch of lineBatches(Readable.from(chunks)))
          for (const one of batch) count += one.text.length > 0 ? 1 : 0
      })
      expect(count, 'The splitter')
      return speed(spent)
    },
    async () => {
      let count = 0
      const spent = await timed(
        () =>
          new Promise<void>((done) => {
            const reader = createInterface({ input: Readable.from(chunks, { objectMode: false }), crlfDelay: Infinity })
            reader.on('line', (text) => {
              count += text.length > 0 ? 1 : 0
            })
            reader.on('close', done)
          }),
      )
      expect(count, 'readline')
      return speed(spent)
    },
  )
  const ours = median(sides.ours)
  const peer = median(sides.peer)
  return {
    name: `splitter MB/s, ${what}`,
    ours: ours.toFixed(0),
    peer: `${peer.toFixed(0)} readline`,
    ratio: ours / peer,
    target: '≥ 2x',
    isMet: ours / peer >= 2,
  }
}

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

function chunksOf(whole: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < whole.length; at += size) chunks.push(whole.subarray(at, at + size))
  return chunks
}
