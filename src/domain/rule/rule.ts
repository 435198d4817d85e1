import { nearest } from '../base/nearest.ts'
import { compileGlob, type Glob } from './glob.ts'
import { knownNames, toolFacts, toolNamed } from './tools.ts'

/** A pattern of tool calls, `Tool` or `Tool(pattern)`. Rules are a convenience for whoever watches; the walls are the boundary. */
export interface Rule {
  readonly text: string
  /** Without one, every call of the tool is meant. */
  readonly hasPattern: boolean
  coversTool(tool: string): boolean
  /** Does the pattern fit? Where nobody can tell what a call says, undefined. */
  coversPart(part: RulePart): boolean | undefined
}

/** One thing that a call does, in the words that patterns are written in. */
export interface RulePart {
  /** The one name under which rules find the tool. */
  readonly tool: string
  /** Undefined if it cannot be read: too long, or not where it belongs. */
  readonly text: string | undefined
  /** Other ways to say the same, which only rules that narrow look at. */
  readonly also: readonly string[]
}

const longest = 1_024

type Parsed = { readonly rule: Rule } | { readonly fault: string }

/** Every start of a program holds each of its tools against each rule, and to read one takes a tenth of a millisecond. */
const read = new Map<string, Parsed>()
const mostRead = 1_000

/** The rule, or why the text is none: the end of a sentence that begins with where it stands. */
export function parseRule(text: string): Parsed {
  const known = read.get(text)
  if (known) return known
  const parsed = readRule(text)
  if (read.size >= mostRead) read.clear()
  read.set(text, parsed)
  return parsed
}

function readRule(text: string): Parsed {
  if (text.length > longest) return { fault: `must have at most ${longest} characters` }
  const open = text.indexOf('(')
  const name = open === -1 ? text : text.slice(0, open)
  if (!/^[A-Za-z_*][A-Za-z0-9_.*-]*$/.test(name) || (open !== -1 && !text.endsWith(')')))
    return { fault: 'must be written Tool or Tool(pattern), for example Bash(git push:*) or Write(docs/**)' }
  if (open !== -1 && open + 2 === text.length)
    return { fault: 'must not have an empty pattern; leave the brackets out for every call' }
  const pattern = open === -1 ? undefined : text.slice(open + 1, -1)
  const { name: tool, native } = toolNamed(name)
  // A rule that names nothing would protect nothing, silently.
  const meant = native && !name.includes('*') && !toolFacts(tool) ? nearest(name, knownNames) : undefined
  if (meant !== undefined) return { fault: `cannot name a tool "${name}" (did you mean "${meant}"?)` }
  return { rule: compile(text, name.includes('*') ? compileGlob(name) : tool, pattern) }
}

function compile(text: string, tool: string | Glob, pattern: string | undefined): Rule {
  const coversTool = (name: string) => (typeof tool === 'string' ? tool === name : tool.matches(name))
  const fits = pattern === undefined ? () => true : matcherOf(pattern)
  return {
    text,
    hasPattern: pattern !== undefined,
    coversTool,
    coversPart(part) {
      if (!coversTool(part.tool)) return false
      if (pattern === undefined) return true
      return part.text === undefined ? undefined : fits(part.tool, part.text)
    },
  }
}

/** One pattern may be held against several kinds of arguments, if the tool's name has a star. */
function matcherOf(pattern: string): (tool: string, text: string) => boolean {
  const made = new Map<string, (text: string) => boolean>()
  return (tool, text) => {
    const about = toolFacts(tool)?.about ?? 'whole'
    const matches = made.get(about) ?? makers[about](pattern)
    made.set(about, matches)
    return matches(text)
  }
}

const whole = (pattern: string) => {
  const glob = compileGlob(pattern)
  return (text: string) => glob.matches(text)
}

const makers = {
  whole,
  name: whole,
  /** `git commit:*` is `git commit` with or without more words. */
  command(pattern: string) {
    if (!pattern.endsWith(':*')) return whole(pattern)
    const start = pattern.slice(0, -2)
    const [alone, followed] = [compileGlob(start), compileGlob(`${start} *`)]
    return (text: string) => alone.matches(text) || followed.matches(text)
  },
  /** Paths in the workspace come as `./x`, others as they are. A pattern that begins with neither `/` nor `**` is about the workspace. */
  path(pattern: string) {
    const isAnywhere = pattern.startsWith('/') || pattern.startsWith('**')
    const start = pattern.replace(/^(\.\/)+/, '')
    const globs = [start, ...(start.endsWith('/**') ? [start.slice(0, -3)] : [])].map((each) =>
      compileGlob(isAnywhere ? each : `./${each}`, { names: true }),
    )
    return (text: string) => globs.some((glob) => glob.matches(text))
  },
  /** A host, or a whole address if there is a slash in the pattern. */
  host(pattern: string) {
    const wanted = pattern.replace(/^domain:/, '')
    if (wanted.includes('/')) return whole(wanted)
    const glob = compileGlob(wanted.toLowerCase())
    return (text: string) => {
      const { hostname, host } = new URL(text)
      return glob.matches(hostname) || glob.matches(host)
    }
  },
}
