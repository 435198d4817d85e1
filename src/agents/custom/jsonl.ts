import { createLineSplitter, type Line } from '../../sandbox/process/lines.ts'
import type { Turn } from '../port.ts'
import { parseLine } from '../shared/json.ts'
import { clean, createTextKeeper, cut, sendPieces } from '../shared/text.ts'
import { createUnknownLines } from '../shared/unknown.ts'
import { type Mapped, mapValue, saysSomething } from './mapping.ts'
import type { Mapping } from './mapping-schema.ts'
import type { Output } from './output.ts'
import { usageSince } from './usage.ts'

const maxLineBytes = 8 * 1024 * 1024

/** One JSON value per line, said as it comes. A line that is not understood is kept as it was and harms nothing. */
export function readJsonl(turn: Turn, map: Mapping): Output {
  const unknown = createUnknownLines(turn)
  const printed = createTextKeeper()
  const result = createTextKeeper()
  const lines: Line[] = []
  const splitter = createLineSplitter({
    maxBytes: maxLineBytes,
    onLine: (text, truncatedBytes) => lines.push({ text, truncatedBytes }),
  })
  const latest: { -readonly [K in keyof Mapped]?: Mapped[K] } = {}
  let hasResult = false
  let notUnderstood: string | undefined

  async function takeLines(): Promise<void> {
    for (const line of lines.splice(0)) await take(line)
    await unknown.flush()
  }
  async function take(line: Line): Promise<void> {
    if (line.text.trim() === '') return
    const parsed = parseLine(line)
    if ('fault' in parsed) notUnderstood = line.text
    const mapped = 'fault' in parsed ? undefined : mapValue(parsed.value, map)
    if (!mapped || !saysSomething(mapped)) return unknown.add(line.text)
    await unknown.flush()
    await note(mapped)
  }
  async function note(mapped: Mapped): Promise<void> {
    const { session } = mapped
    if (session && session !== latest.session) await turn.emit({ type: 'agent.session', data: { vendorId: session } })
    latest.session = session ?? latest.session
    latest.error ??= mapped.error && cut(mapped.error, 500)
    const before = { ...latest }
    latest.costUsd = mapped.costUsd ?? latest.costUsd
    latest.inputTokens = mapped.inputTokens ?? latest.inputTokens
    latest.outputTokens = mapped.outputTokens ?? latest.outputTokens
    const used = usageSince(before, latest)
    if (used) await turn.emit(used)
    if (mapped.result !== undefined && !hasResult) {
      hasResult = true
      result.add(clean(mapped.result))
    }
    if (mapped.partial) turn.grow?.('message', clean(mapped.partial))
    if (mapped.text) {
      printed.add(`${clean(mapped.text)}\n`)
      await sendPieces(mapped.text, (text) => turn.emit({ type: 'agent.message', data: { text } }))
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
      const text = (hasResult ? result : printed).text().trim()
      return { ...latest, text, broken: fault(text) }
    },
  }

  function fault(text: string) {
    const answered = map.result === undefined ? text !== '' : hasResult
    if (answered) return undefined
    if (notUnderstood !== undefined) {
      return { category: 'protocol_error', message: `A line could not be understood: ${cut(notUnderstood, 200)}` } as const
    }
    if (map.result === undefined) return undefined
    return { category: 'crashed', message: `The program ended without a result (nothing at "${map.result}").` } as const
  }
}
