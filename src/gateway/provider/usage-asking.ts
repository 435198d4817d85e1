import { isObjectOrArray } from '../../domain/base/object.ts'
import { type Edit, membersOf, objectStart } from '../wires/json-members.ts'
import type { JsonObject } from '../wires/model-request.ts'
import type { Frame, WireName } from '../wires/wire.ts'

/** Whether the provider tells the usage of this stream only if it is asked to, and the client did not ask. */
export function mustAskForUsage(wire: WireName, body: JsonObject): boolean {
  if (wire !== 'openai-chat' || body.stream !== true) return false
  const options = body.stream_options
  return !(isObjectOrArray(options) && 'include_usage' in options && options.include_usage === true)
}

const optionNames = new Set(['stream_options'])
const flagNames = new Set(['include_usage'])

/** Asks for it in the client's own text. */
export function usageAsking(bytes: Buffer): Edit[] {
  const given = membersOf(bytes, optionNames)
  if (given.length === 0) {
    const inside = objectStart(bytes) + 1
    return [{ start: inside, end: inside, text: '"stream_options":{"include_usage":true},' }]
  }
  return given.flatMap((options) => {
    const text = bytes.toString('utf8', options.start, options.end)
    if (!text.startsWith('{')) return [{ ...options, text: '{"include_usage":true}' }]
    const flags = membersOf(bytes, flagNames, options.start)
    if (flags.length > 0) return flags.map(({ start, end }) => ({ start, end, text: 'true' }))
    const isEmpty = /^\{\s*\}$/.test(text)
    return [{ start: options.start + 1, end: options.start + 1, text: `"include_usage":true${isEmpty ? '' : ','}` }]
  })
}

/** The frame that comes only because we asked: usage, and no piece of an answer. */
export function isUsageOnly({ data }: Frame): boolean {
  if (!data.includes('"usage"') || !/"choices"\s*:\s*\[\s*\]/.test(data)) return false
  try {
    const parsed: unknown = JSON.parse(data)
    return isObjectOrArray(parsed) && 'usage' in parsed && parsed.usage !== null
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
