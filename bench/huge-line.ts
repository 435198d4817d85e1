import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { lineBatches } from '../src/sandbox/process/lines.ts'

/** Prints how many bytes of memory one line of 50 MB costs beyond itself, in this process at its highest. */
const lineBytes = 50e6
const chunkBytes = 65_536

async function* huge(): AsyncGenerator<Buffer> {
  for (let left = lineBytes; left > 0; left -= chunkBytes) yield Buffer.alloc(Math.min(left, chunkBytes), 'x')
  yield Buffer.from('\n')
}

/** Reading a text that was joined from parts makes one piece of it; whoever parses it does the same. */
const touched = (text: string) => (text.charCodeAt(text.length - 1) === 0x78 ? text.length : 0)

const read = {
  async ours(source: AsyncIterable<Buffer>) {
    let length = 0
    for await (const batch of lineBatches(source, { maxBytes: Number.POSITIVE_INFINITY }))
      for (const line of batch) length += touched(line.text)
    return length
  },
  async readline(source: AsyncIterable<Buffer>) {
    let length = 0
    for await (const line of createInterface({ input: Readable.from(source), crlfDelay: Number.POSITIVE_INFINITY }))
      length += touched(line)
    return length
  },
}[process.argv[2] as 'ours' | 'readline']

const highest = () => process.resourceUsage().maxRSS * 1024
// One small line first, so that the code itself is not counted.
await read(Readable.from([Buffer.from('x\n')]) as AsyncIterable<Buffer>)
const before = process.memoryUsage.rss()
const markBefore = highest()
if ((await read(huge())) !== lineBytes) throw new Error('The line came out wrong.')
if (highest() === markBefore) throw new Error('The highest mark of memory is that of the process that started this one.')
process.stdout.write(String(highest() - before - lineBytes))
