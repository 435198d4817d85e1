import { createHash } from 'node:crypto'
import { asObject, isObjectOrArray } from '../../domain/base/object.ts'
import type { JsonObject } from '../wires/model-request.ts'

/** A request body in its parts: messages, tools and long texts by themselves, because successive requests of an agent share nearly all of them. */
export interface SplitBody {
  readonly fields: Readonly<Record<string, unknown>>
  readonly pieces: Readonly<Record<string, Piece | readonly Piece[]>>
  readonly order: readonly string[]
}

export interface Piece {
  readonly value: unknown
  readonly sha256: string
}

/** What is shorter costs more as a piece than in its place. */
const leastChars = 256

export function splitBody(body: JsonObject): SplitBody {
  const fields: Record<string, unknown> = {}
  const pieces: Record<string, Piece | Piece[]> = {}
  for (const [key, value] of Object.entries(body)) {
    if (Array.isArray(value) && value.length > 0 && value.every(isObjectOrArray)) pieces[key] = value.map(pieceOf)
    else if (isLong(value)) pieces[key] = pieceOf(value)
    else fields[key] = value
  }
  return { fields, pieces, order: Object.keys(body) }
}

export function pieceOf(value: unknown): Piece {
  return { value, sha256: sha256(JSON.stringify(value)) }
}

export const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

/** Undefined if it is none. */
export function jsonObject(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return undefined
  }
}

function isLong(value: unknown): boolean {
  if (typeof value === 'string') return value.length >= leastChars
  return isObjectOrArray(value) && JSON.stringify(value).length >= leastChars
}
