import { isObjectOrArray } from '../../domain/base/object.ts'
/** The first place where two JSON values differ, with a little of both around it. */
export interface JsonPlace {
  readonly at: string
  readonly one: string
  readonly other: string
}

const around = 80

export function firstDifference(name: string, one: unknown, other: unknown): JsonPlace {
  if (isObjectOrArray(one) && isObjectOrArray(other) && Array.isArray(one) === Array.isArray(other)) {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)])
    for (const key of keys) {
      const [left, right] = [one[key], other[key]]
      if (JSON.stringify(left) !== JSON.stringify(right))
        return firstDifference(Array.isArray(one) ? `${name}[${key}]` : `${name}.${key}`, left, right)
    }
  }
  const [left, right] = [shown(one), shown(other)]
  let from = 0
  while (from < left.length && left[from] === right[from]) from++
  return { at: name === '' ? 'the body' : name, one: excerpt(left, from), other: excerpt(right, from) }
}

const shown = (value: unknown) => (value === undefined ? '(nothing)' : typeof value === 'string' ? value : JSON.stringify(value))

function excerpt(text: string, at: number): string {
  const [from, to] = [Math.max(0, at - around), Math.min(text.length, at + around)]
  return `${from > 0 ? '…' : ''}${text.slice(from, to).toWellFormed()}${to < text.length ? '…' : ''}`
}
