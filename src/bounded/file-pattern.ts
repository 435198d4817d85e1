import { setImmediate as breathe } from 'node:timers/promises'
import { invalid } from '../domain/error.ts'
import { compileRegex } from './regex.ts'

/** A path of 4,096 characters then takes 100 ms at the most, and nearly always a thousandth of it. */
const mostSteps = 600
const turnMs = 10
const mostMs = 2_000

/** Says of a path how many of the patterns it fits. Lets others have their turn, and gives up after two seconds of work: this process serves every run. */
export function createFileFilter(patterns: readonly string[]): (path: string) => Promise<number> {
  const tests = patterns.map(compileFilePattern)
  let spentMs = 0
  let turn = 0
  return async (path) => {
    let fits = 0
    for (const test of tests) {
      const startedAt = performance.now()
      if (test(path)) fits++
      const ms = performance.now() - startedAt
      spentMs += ms
      turn += ms
      if (spentMs > mostMs) throw invalid('These patterns take too long here; make them simpler, or name a folder.')
      if (turn < turnMs) continue
      await breathe()
      turn = 0
    }
    return fits
  }
}

/** `src/**\/*.{ts,tsx}`: `*` and `?` stay within one name, `**` goes through folders, braces and brackets mean one of what they hold. */
export function compileFilePattern(pattern: string): (path: string) => boolean {
  const refuse = (why: string) => invalid(`The pattern ${JSON.stringify(pattern.slice(0, 200))} cannot be used: ${why}.`)
  const chars = [...pattern.normalize('NFC')]
  let at = 0
  const body = sequence(0)
  const regex = compileRegex(`^(?:${body})$`, { singleLine: true, most: mostSteps })
  return (path) => regex.test(path.normalize('NFC'))

  function sequence(depth: number): string {
    if (depth > 20) throw refuse('its braces are too deep')
    let text = ''
    while (at < chars.length && !(depth > 0 && (chars[at] === ',' || chars[at] === '}'))) text += single(depth)
    return text
  }

  function single(depth: number): string {
    const isAtName = at === 0 || chars[at - 1] === '/' || chars[at - 1] === '{' || chars[at - 1] === ','
    const char = chars[at++]!
    if (char === '*') {
      if (chars[at] !== '*') return '[^/]*'
      while (chars[at] === '*') at++
      if (!isAtName || chars[at] !== '/') return '.*'
      at++
      return '(?:.*/)?'
    }
    if (char === '?') return '[^/]'
    if (char === '[') return brackets()
    if (char === '{') return braces(depth)
    if (char === '\\' && at < chars.length) return literal(chars[at++]!)
    return literal(char)
  }

  function braces(depth: number): string {
    const parts = [sequence(depth + 1)]
    while (chars[at] === ',') {
      at++
      parts.push(sequence(depth + 1))
    }
    if (chars[at++] !== '}') throw refuse('a "{" is not closed')
    return `(?:${parts.join('|')})`
  }

  /** A slash is never one of them. */
  function brackets(): string {
    const isNegated = chars[at] === '!' || chars[at] === '^'
    if (isNegated) at++
    const ranges: [number, number][] = []
    for (let isFirst = true; isFirst || chars[at] !== ']'; isFirst = false) {
      const from = chars[at++]?.codePointAt(0)
      if (from === undefined) throw refuse('a "[" is not closed')
      const isRange = chars[at] === '-' && chars[at + 1] !== ']' && chars[at + 1] !== undefined
      const to = isRange ? chars[at + 1]!.codePointAt(0)! : from
      if (isRange) at += 2
      if (to >= from) ranges.push([from, to])
    }
    at++
    if (isNegated) return `[^/${ranges.map(([from, to]) => `${code(from)}-${code(to)}`).join('')}]`
    const open = ranges.flatMap(([from, to]) => [
      [from, Math.min(to, slash - 1)] as const,
      [Math.max(from, slash + 1), to] as const,
    ])
    const rest = open.filter(([from, to]) => to >= from)
    // Nothing fits: a class without members.
    return rest.length === 0 ? '[^\\x00-\\x{10FFFF}]' : `[${rest.map(([from, to]) => `${code(from)}-${code(to)}`).join('')}]`
  }
}

const slash = 47
const code = (point: number) => `\\x{${point.toString(16)}}`
const literal = (char: string) => (/[A-Za-z0-9_/]/.test(char) ? char : code(char.codePointAt(0)!))
