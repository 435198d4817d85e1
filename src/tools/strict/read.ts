import { StringDecoder } from 'node:string_decoder'
import { z } from 'zod'
import { PawlError } from '../../domain/error.ts'
import { isBinary } from '../base/answer-text.ts'
import { reading, tool } from '../base/tool.ts'
import { withFile } from '../files/content.ts'
import type { StrictParts } from './strict-parts.ts'

const mostLines = 2_000
const longestLine = 2_000
const mostCharacters = 200_000
/** A line far down is reached by reading all before it. */
const mostScanned = 256 * 1024 * 1024

export const filePath = z.string().min(1).max(4_096)

export const readTool = ({ files, gate }: StrictParts) =>
  tool({
    name: 'Read',
    description: `Read a text file, with the number of each line before it. At most ${mostLines} lines come at once: use offset and limit for more. For documents like PDF or Word use ReadDocument.`,
    annotations: reading,
    input: z.strictObject({
      file_path: filePath.describe('The file, by its whole path or relative to the workspace.'),
      offset: z.int().min(1).optional().describe('The number of the first line to read; 1 if left out.'),
      limit: z.int().min(1).max(mostLines).optional().describe('How many lines to read.'),
    }),
    async run({ file_path, offset = 1, limit = mostLines }) {
      const place = await files.find(file_path)
      await gate('Read', { file_path: place.path, offset, limit })
      return withFile(files, place, async (file) => {
        const lines = new NumberedLines(offset, limit)
        const decoder = new StringDecoder('utf8')
        const buffer = Buffer.alloc(65_536)
        for (let at = 0; !lines.isFull; ) {
          const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
          const bytes = buffer.subarray(0, bytesRead)
          if (at === 0 && isBinary(bytes)) throw notText(place.path)
          if (bytesRead === 0) {
            lines.end(decoder.end())
            break
          }
          at += bytesRead
          if (at > mostScanned) throw new PawlError('unsupported', `${place.path} is too large to be read up to line ${offset}.`)
          lines.add(decoder.write(bytes))
        }
        return lines.text(place.path)
      })
    },
  })

const notText = (path: string) =>
  new PawlError('unsupported', `${path} is no text. Documents are read with ReadDocument; look at other files with Bash.`)

/** Takes text in pieces and keeps the lines that were asked for, each with its number. */
class NumberedLines {
  #number = 1
  #line = ''
  #kept: string[] = []
  #size = 0
  #hasMore = false
  readonly #first: number
  readonly #limit: number

  constructor(first: number, limit: number) {
    this.#first = first
    this.#limit = limit
  }

  get isFull(): boolean {
    return this.#hasMore
  }

  add(text: string): void {
    const lines = text.split('\n')
    for (const [index, line] of lines.entries()) {
      // Of a line without end only the beginning is ever shown.
      if (this.#line.length <= longestLine) this.#line += line
      if (index === lines.length - 1 || this.#hasMore) return
      this.#push()
    }
  }

  end(text: string): void {
    this.add(text)
    if (this.#line !== '' && !this.#hasMore) this.#push()
  }

  text(path: string): string {
    const last = this.#first + this.#kept.length - 1
    if (this.#kept.length === 0)
      return this.#first === 1
        ? `${path} is empty.`
        : `${path} has only ${this.#number - 1} lines; there is no line ${this.#first}.`
    const more = this.#hasMore ? `\n… there is more: read on with offset ${last + 1}.` : ''
    return this.#kept.join('\n') + more
  }

  #push(): void {
    const line = this.#line.endsWith('\r') ? this.#line.slice(0, -1) : this.#line
    this.#line = ''
    const number = this.#number++
    if (number < this.#first) return
    if (this.#kept.length >= this.#limit || this.#size > mostCharacters) {
      this.#hasMore = true
      return
    }
    const shown = line.length > longestLine ? `${line.slice(0, longestLine)}… (the line is longer)` : line
    this.#size += shown.length
    this.#kept.push(`${String(number).padStart(6)}\t${shown}`)
  }
}
