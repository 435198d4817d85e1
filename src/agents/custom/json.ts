import type { Turn } from '../port.ts'
import { parseJson } from '../shared/json.ts'
import { clean, createTextKeeper, cut, sendPieces } from '../shared/text.ts'
import { mapValue } from './mapping.ts'
import type { Mapping } from './mapping-schema.ts'
import type { Output, Said } from './output.ts'
import { usageSince } from './usage.ts'

const maxBytes = 50_000_000

/** One JSON value, printed at the end. Without a declared place for the text, a string is the answer, and so is anything else as printed. */
export function readJson(turn: Turn, map: Mapping | undefined): Output {
  const chunks: Buffer[] = []
  let bytes = 0
  const decoder = new TextDecoder()
  const printed = createTextKeeper()

  return {
    async push(chunk) {
      printed.add(decoder.decode(chunk, { stream: true }))
      bytes += chunk.length
      if (bytes <= maxBytes) chunks.push(chunk)
      else chunks.length = 0
    },
    async end({ whole }) {
      printed.add(decoder.decode())
      const said = whole ? read() : { text: printed.text().trim() }
      if (said.session !== undefined) await turn.emit({ type: 'agent.session', data: { vendorId: said.session } })
      const used = usageSince({}, said)
      if (used) await turn.emit(used)
      await sendPieces(said.text, (text) => turn.emit({ type: 'agent.message', data: { text } }))
      return said
    },
  }

  function read(): Said {
    const text = printed.text().trim()
    if (bytes > maxBytes) {
      const message = `The program printed ${bytes} bytes; one JSON value may have ${maxBytes}.`
      return { text, broken: { category: 'output_limit', message } }
    }
    if (text === '') return { text }
    const parsed = parseJson(new TextDecoder().decode(Buffer.concat(chunks)))
    if ('fault' in parsed) {
      return { text, broken: { category: 'protocol_error', message: `The output is not one JSON value: ${parsed.fault}` } }
    }
    if (!map) return { text: typeof parsed.value === 'string' ? kept(parsed.value) : text }
    const mapped = mapValue(parsed.value, map)
    const facts = {
      ...mapped,
      error: mapped.error && cut(mapped.error, 500),
    }
    if (map.text === undefined) return { ...facts, text }
    if (mapped.text !== undefined) return { ...facts, text: kept(mapped.text) }
    const message = `The output has no text at "${map.text}".`
    return { ...facts, text, broken: { category: 'protocol_error', message } }
  }
}

function kept(text: string): string {
  const keep = createTextKeeper()
  keep.add(clean(text))
  return keep.text().trim()
}
