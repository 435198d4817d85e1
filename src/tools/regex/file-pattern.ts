import { invalid } from '../../domain/error.ts'
import type { Node } from './parse.ts'
import { createRegex } from './regex.ts'

/** `src/**\/*.{ts,tsx}`: `*` and `?` stay within one name, `**` goes through folders, braces and brackets mean one of what they hold. */
export function compileFilePattern(pattern: string): (path: string) => boolean {
  const refuse = (why: string) => invalid(`The pattern ${JSON.stringify(pattern.slice(0, 200))} cannot be used: ${why}.`)
  const chars = [...pattern.normalize('NFC')]
  let at = 0
  const start: Node = { kind: 'assert', what: 'start' }
  const end: Node = { kind: 'assert', what: 'end' }
  const body = sequence(0)
  const regex = createRegex({ kind: 'sequence', parts: [start, body, end] })
  return (path) => regex.test(path.normalize('NFC'))

  function sequence(depth: number): Node {
    if (depth > 20) throw refuse('its braces are too deep')
    const parts: Node[] = []
    while (at < chars.length && !(depth > 0 && (chars[at] === ',' || chars[at] === '}'))) parts.push(single(depth))
    return { kind: 'sequence', parts }
  }

  function single(depth: number): Node {
    const isAtName = at === 0 || chars[at - 1] === '/' || chars[at - 1] === '{' || chars[at - 1] === ','
    const char = chars[at++]!
    if (char === '*') {
      if (chars[at] !== '*') return many(notSlash)
      while (chars[at] === '*') at++
      if (!isAtName || chars[at] !== '/') return many(anything)
      at++
      return { kind: 'repeat', part: { kind: 'sequence', parts: [many(anything), literal('/')] }, least: 0, most: 1 }
    }
    if (char === '?') return { kind: 'char', accepts: notSlash }
    if (char === '[') return brackets()
    if (char === '{') return braces(depth)
    if (char === '\\' && at < chars.length) return literal(chars[at++]!)
    return literal(char)
  }

  function braces(depth: number): Node {
    const parts = [sequence(depth + 1)]
    while (chars[at] === ',') {
      at++
      parts.push(sequence(depth + 1))
    }
    if (chars[at++] !== '}') throw refuse('a "{" is not closed')
    return { kind: 'either', parts }
  }

  function brackets(): Node {
    const isNegated = chars[at] === '!' || chars[at] === '^'
    if (isNegated) at++
    const ranges: [number, number][] = []
    for (let isFirst = true; isFirst || chars[at] !== ']'; isFirst = false) {
      const from = chars[at++]?.codePointAt(0)
      if (from === undefined) throw refuse('a "[" is not closed')
      const isRange = chars[at] === '-' && chars[at + 1] !== ']' && chars[at + 1] !== undefined
      ranges.push([from, isRange ? chars[at + 1]!.codePointAt(0)! : from])
      if (isRange) at += 2
    }
    at++
    return {
      kind: 'char',
      accepts: (point) => point !== 47 && ranges.some(([from, to]) => point >= from && point <= to) !== isNegated,
    }
  }
}

const notSlash = (point: number) => point !== 47
const anything = () => true
const many = (accepts: (point: number) => boolean): Node => ({
  kind: 'repeat',
  part: { kind: 'char', accepts },
  least: 0,
  most: Infinity,
})
const literal = (char: string): Node => ({ kind: 'char', accepts: (point) => point === char.codePointAt(0) })
