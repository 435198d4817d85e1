import { compileRegex, type Regex } from '../../bounded/regex.ts'
import type { Category } from '../../domain/run/outcome.ts'
import type { Verdict } from '../port.ts'
import { resetTime } from '../shared/reset-time.ts'
import { cut } from '../shared/text.ts'
import { decoration, reasonField, usualFailures } from './failure-patterns.ts'
import type { CustomOptions } from './options.ts'
import { compilePattern } from './pattern.ts'

/** The ends of what a failed program said. */
export interface LastWords {
  /** What the program itself named as the reason, where its output has a place for that. */
  readonly reason?: string | undefined
  readonly stderr: string
  readonly answer: string
  readonly exitCode?: number | null | undefined
}

/** A stack trace and a blank line or two follow the reason; what was complained of long before is no reason for the end. */
const errorLines = 20
/** An answer that speaks of limits is no limit: only its last lines can be a complaint. */
const answerLines = 4
const lineChars = 400
/** Of decorations before the reason, and of fields in one line. */
const mostBeginnings = 8
const limitMs = 300

interface Found {
  readonly category: Category
  /** From where the reason begins. */
  readonly said: string
}

/**
 * The verdict on a failed run with the cause that the program's last lines name: a limit with its end, a login, the network, a conversation that is too long. Lines are
 * read from the last one up, stderr before stdout. What names no known cause stays as it was.
 */
export function explained(verdict: Verdict, words: LastWords, options: CustomOptions, now = new Date()): Verdict {
  if (words.exitCode === notFoundCode) return missing(verdict, words.stderr, options)
  const find = finder(options)
  const endsAt = performance.now() + limitMs
  for (const lines of [endOf(words.reason ?? '', errorLines), endOf(words.stderr, errorLines), endOf(words.answer, answerLines)])
    for (let at = lines.length - 1; at >= 0; at--) {
      // Nobody waits for long on texts that were made to be slow.
      if (performance.now() > endsAt) return verdict
      const found = find(lines[at]!)
      if (found) return judged(verdict, found, timeIn(found.said, lines, at, now), options)
    }
  return verdict
}

/** By it a shell, and `env` in the first line of a script, say that there is no such program. */
const notFoundCode = 127
function missing(verdict: Verdict, stderr: string, { install }: CustomOptions): Verdict {
  const last = endOf(stderr, 1)[0]?.toLowerCase() ?? ''
  if (!last.includes('not found') && !last.includes('no such file')) return verdict
  const fix = install === undefined ? '' : ` Fix: ${install}`
  return { ...verdict, category: 'binary_missing', message: `${ended(verdict.message ?? '')}${fix}` }
}

const waiting: ReadonlySet<Category> = new Set(['usage_limit', 'rate_limited', 'overloaded'])

function judged(verdict: Verdict, { category, said }: Found, end: Date | undefined, options: CustomOptions): Verdict {
  // A pattern of the settings may say that something which looks like a known cause is none.
  if (category === 'exit_code') return verdict
  const { isUnexplained: _, ...rest } = verdict
  const message = cut(said.trim(), 500)
  if (category === 'auth_failed') return { ...rest, category, message: `${ended(message)} ${loginFix(options)}` }
  if (!waiting.has(category)) return { ...rest, category, message }
  // A limit whose end nobody knows cannot be waited for; it is tried again as any other refusal to answer.
  if (!end) return { ...rest, category: category === 'usage_limit' ? 'rate_limited' : category, message }
  return { ...rest, category: category === 'overloaded' ? category : 'usage_limit', message, retryAt: end }
}

const ended = (sentence: string) => ('.!?'.includes(sentence.slice(-1)) ? sentence : `${sentence}.`)

function loginFix({ command, keys }: CustomOptions): string {
  const program = typeof command === 'string' ? command : command[0]
  const key = keys.length === 0 ? 'give it its key ("env" or "auth" of the agent)' : `set ${keys.join(' or ')} for Pawl`
  return `Fix: log in with ${program} once in a terminal, or ${key}; then retry the task.`
}

/** The patterns of the settings are looked for anywhere in a line, and before those that are known of programs in general. */
function finder({ failurePatterns = {} }: CustomOptions): (line: string) => Found | undefined {
  const own = Object.entries(failurePatterns).flatMap(([category, sources]) =>
    (sources ?? []).map((source) => ({ category: category as Category, regex: compilePattern(source) })),
  )
  return (line) => {
    for (const { category, regex } of own) {
      const match = regex.exec(line)
      if (match) return { category, said: match[1] || line }
    }
    const statements = [...beginnings(line)]
    for (const [category, regex] of usual().failures) {
      const said = statements.find((statement) => regex.test(statement))
      if (said !== undefined) return { category, said }
    }
    return undefined
  }
}

/** Where a statement may begin: at the start, behind each thing that stands before it, and at each field that holds a reason. */
function* beginnings(line: string): Generator<string> {
  const { before, field } = usual()
  yield line
  for (let [rest, count] = [line, 0]; count < mostBeginnings; count++) {
    const skipped = before.exec(rest)?.[0]
    if (!skipped) break
    rest = rest.slice(skipped.length)
    yield rest
  }
  for (let [rest, count] = [line, 0]; count < mostBeginnings; count++) {
    const found = field.exec(rest)?.[0]
    if (!found) break
    rest = rest.slice(rest.indexOf(found) + found.length)
    yield rest
  }
}

interface Usual {
  readonly before: Regex
  readonly field: Regex
  readonly failures: readonly (readonly [Category, Regex])[]
}
let compiled: Usual | undefined
/** Ours are longer than what settings may say; each looks only at the beginning of a short line. */
const most = 5_000
/** Compiled for the first run that fails. */
function usual(): Usual {
  const compile = (source: string) => compileRegex(source, { ignoreCase: true, most })
  compiled ??= {
    before: compile(decoration),
    field: compile(reasonField),
    failures: usualFailures.map(([category, source]) => [category, compile(source)] as const),
  }
  return compiled
}

/** The time at which a limit ends: in the same line, or in one beside it, such as a header that was printed with the answer. */
function timeIn(said: string, lines: readonly string[], at: number, now: Date): Date | undefined {
  const beside = [...lines.slice(at + 1, at + 4), ...lines.slice(Math.max(0, at - 3), at).toReversed()]
  for (const text of [said, ...beside.filter((line) => timeWords.some((word) => line.toLowerCase().includes(word)))]) {
    const time = resetTime(text, now)
    if (time) return time
  }
  return undefined
}
const timeWords = ['retry', 'again', 'reset']

/** The last lines that say something, each from its beginning: that is where a reason stands. */
const endOf = (text: string, most: number): string[] =>
  text
    .slice(-most * lineChars * 4)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-most)
    .map((line) => line.trim().slice(0, lineChars))
