import { createLineSplitter, type Line } from '../../sandbox/process/lines.ts'
import type { Turn } from '../port.ts'
import { harmless } from '../shared/harmless.ts'
import { parseLine } from '../shared/json.ts'
import { clean, createTextKeeper, cut, pieceChars, sendPieces } from '../shared/text.ts'
import { createUnknownLines } from '../shared/unknown.ts'
import { DemoRecord, type DemoResult } from './records.ts'

const maxLineBytes = 8 * 1024 * 1024

export interface DemoSaid {
  /** The result's text, or what was said so far if there is none. */
  readonly text: string
  readonly session: string | undefined
  readonly asked: boolean
  readonly result: DemoResult | undefined
  /** The last line that was no record of ours. */
  readonly notUnderstood: string | undefined
}

/** Translates the program's records into events as they come. */
export function listen(turn: Turn): { push(chunk: Buffer): Promise<void>; end(): Promise<DemoSaid> } {
  const lines: Line[] = []
  const splitter = createLineSplitter({
    maxBytes: maxLineBytes,
    onLine: (text, truncatedBytes) => lines.push({ text, truncatedBytes }),
  })
  const unknown = createUnknownLines(turn)
  const spoken = createTextKeeper()
  const answer = createTextKeeper()
  let session: string | undefined
  let asked = false
  let result: DemoResult | undefined
  let notUnderstood: string | undefined

  async function takeLines(): Promise<void> {
    for (const line of lines.splice(0)) {
      if (line.text.trim() === '') continue
      const record = readRecord(line)
      if (record) {
        await unknown.flush()
        await take(record)
      } else {
        notUnderstood = cut(line.text, 200)
        await unknown.add(line.text)
      }
    }
    await unknown.flush()
  }
  async function take(record: DemoRecord): Promise<void> {
    switch (record.type) {
      case 'session':
        session = clean(record.id)
        await turn.emit({ type: 'agent.session', data: { vendorId: session } })
        return
      case 'text':
        spoken.add(`${record.text}\n`)
        await sendPieces(record.text, (text) => turn.emit({ type: 'agent.message', data: { text } }))
        return
      case 'tool':
        await turn.emit({
          type: 'agent.tool_called',
          data: { callId: clean(record.id), tool: clean(record.name), input: harmless(record.input) },
        })
        return
      case 'tool_result':
        await turn.emit({
          type: 'agent.tool_returned',
          data: { callId: clean(record.id), output: cut(record.output, pieceChars), isError: record.isError },
        })
        return
      case 'asked':
        asked = true
        return
      case 'result':
        if (result) return
        result = record
        answer.add(record.text)
    }
  }
  return {
    async push(chunk) {
      splitter.push(chunk)
      await takeLines()
    },
    async end() {
      splitter.end()
      await takeLines()
      return { text: (result ? answer : spoken).text().trim(), session, asked, result, notUnderstood }
    },
  }
}

function readRecord(line: Line): DemoRecord | undefined {
  const parsed = parseLine(line)
  return 'fault' in parsed ? undefined : DemoRecord.safeParse(parsed.value).data
}
