import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/** What the SDK ships as the schema of the protocol's stable version. */
const { $schema, $defs } = JSON.parse(
  readFileSync(fileURLToPath(import.meta.resolve('@agentclientprotocol/sdk/schema/v1/schema.json')), 'utf8'),
) as { $schema: 'https://json-schema.org/draft/2020-12/schema'; $defs: Record<string, { 'x-method'?: string }> }

export interface Frame {
  readonly from: 'editor' | 'agent'
  readonly message: Readonly<Record<string, unknown>>
}

const parsers = new Map<string, z.ZodType>()

/** Words that only tell variants of the same object apart, and that the parser does not know. */
const unknown = new Set(['not', 'unevaluatedProperties'])

function parserOf(name: string): z.ZodType {
  const found = parsers.get(name)
  if (found) return found
  const defs = JSON.parse(JSON.stringify($defs), (key, value) => (unknown.has(key) ? undefined : value))
  const made = z.fromJSONSchema({ $schema, $defs: defs, $ref: `#/$defs/${name}` })
  parsers.set(name, made)
  return made
}

const named = (method: string, kind: 'Request' | 'Response' | 'Notification') =>
  Object.entries($defs).find(([name, def]) => def['x-method'] === method && name.endsWith(kind))?.[0]

/** Every fault of a conversation, frame by frame; a method that the schema does not know is one. */
export function faultsIn(frames: readonly Frame[]): string[] {
  const asked = new Map<string, string>()
  return frames.flatMap(({ from, message }): string[] => {
    const { jsonrpc, id, method, params, result, error } = message
    const other = from === 'editor' ? 'agent' : 'editor'
    const fault = (what: string) => [`${from} ${what}: ${JSON.stringify(message).slice(0, 500)}`]
    if (jsonrpc !== '2.0') return fault('says no version')
    if (typeof method === 'string') {
      if (id !== undefined) asked.set(`${from} ${String(id)}`, method)
      // An extension has a form of its own.
      if (method.startsWith('_')) return []
      return checked(named(method, id === undefined ? 'Notification' : 'Request'), params)
    }
    if (error !== undefined) return checked('Error', error)
    const answers = asked.get(`${other} ${String(id)}`)
    return answers === undefined ? fault('answers nothing') : checked(named(answers, 'Response'), result)

    function checked(name: string | undefined, value: unknown): string[] {
      if (name === undefined) return fault('says what the schema does not know')
      const parsed = parserOf(name).safeParse(value)
      return parsed.success ? [] : fault(`says no ${name} (${z.prettifyError(parsed.error)})`)
    }
  })
}
