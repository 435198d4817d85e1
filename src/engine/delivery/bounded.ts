import { isObjectOrArray } from '../../domain/base/object.ts'

const longestText = 4_000
const mostItems = 50
const mostBytes = 32_000

/** The data of an event, short enough to be sent about: long texts and lists are cut. */
export function bounded(data: object): Record<string, unknown> {
  const cut = cutTo(data, 0) as Record<string, unknown>
  return JSON.stringify(cut).length > mostBytes ? { cut: true } : cut
}

function cutTo(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cutText(value)
  if (!isObjectOrArray(value)) return value
  if (depth > 5) return null
  if (Array.isArray(value)) return value.slice(0, mostItems).map((item) => cutTo(item, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cutTo(inner, depth + 1)]))
}

const cutText = (text: string) => (text.length > longestText ? `${text.slice(0, longestText).toWellFormed()}…` : text)
