import { isObjectOrArray } from '../../domain/base/object.ts'
import type { JsonObject } from '../wires/model-request.ts'
import type { ProviderAnswer } from './exchange.ts'
import { withoutKey } from './key-redaction.ts'
import { type End, type Pumping, pump } from './pump.ts'
import { unpacked } from './source.ts'

export interface Collected {
  /** `cut` also if it was larger than allowed. */
  readonly end: End
  readonly bytes: Buffer
  /** The objects in it: one, several if it is a list of them, none if it is not JSON. */
  bodies(): JsonObject[]
}

export interface Collecting extends Omit<Pumping, 'take'> {
  readonly maxBytes: number
  /** The key by which we asked. It is redacted. */
  readonly key: string | undefined
  onFirst(): void
}

/** A provider's whole body. */
export async function collect(
  response: ProviderAnswer,
  { answer, clock, idleMs, maxBytes, key, onFirst }: Collecting,
): Promise<Collected> {
  const chunks: Buffer[] = []
  let size = 0
  const source = withoutKey(unpacked(response), key)
  const take = (chunk: Buffer) => {
    if (size === 0) onFirst()
    size += chunk.length
    if (size > maxBytes) source.destroy()
    else chunks.push(chunk)
    return true
  }
  const end = await pump(source, { answer, clock, idleMs, take })
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  return { end, bytes, bodies: () => bodiesIn(bytes) }
}

function bodiesIn(bytes: Buffer): JsonObject[] {
  try {
    const parsed: unknown = JSON.parse(bytes.toString('utf8'))
    return (Array.isArray(parsed) ? parsed : [parsed]).filter(isObjectOrArray)
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}
