import { canonicalJson } from '../base/canonical-json.ts'
import { type Fields, fieldsOf, isObjectOrArray } from '../base/object.ts'
import { relativeTo, sandboxPath } from '../base/path.ts'
import { isSmall, mostParts } from '../base/small.ts'
import type { RulePart } from './rule.ts'
import { shellParts } from './shell.ts'
import { toolFacts, toolNamed } from './tools.ts'

export interface ToolCall {
  readonly tool: string
  readonly input: unknown
}

/** Where the call happens: relative paths are seen from here. */
export interface CallPlace {
  readonly workspace?: string | undefined
}

/** More than any rule is about. What is longer cannot be read, so nothing is allowed because of what it seems to say. */
const longest = 65_536
const bounds = { levels: 200, parts: mostParts }
/** Of files in one patch. */
const mostPaths = 1_000

/** Everything that a call does, as rules see it. `of` is the tool that does it, where the shell writes a file for a command. */
export function partsOf(call: ToolCall, place: CallPlace = {}): (RulePart & { readonly of?: string })[] {
  const { name: tool } = toolNamed(call.tool)
  const facts = toolFacts(tool)
  const input = fieldsOf(call.input)
  const given = facts?.fields.map((field) => input[field]).find((value) => value !== undefined && value !== null)
  const one = (text: string | undefined, also: readonly string[] = []) => ({ tool, text: short(text), also })
  switch (facts?.about) {
    case 'command':
      return commandParts(tool, commandText(given), place)
    case 'path':
      return (pathsOf(given, input, tool) ?? [undefined]).map((path) => one(path === undefined ? path : seenFrom(path, place)))
    case 'host':
      return [one(addressOf(given))]
    case 'name':
      // The prefix is how a program tells our skills from its own.
      return [one(typeof given === 'string' ? given.replace(/^pawl:/, '') : undefined)]
    default:
      return [one(isSmall(call.input, bounds) ? canonicalJson(call.input ?? {}) : undefined)]
  }
}

function commandParts(tool: string, line: string | undefined, place: CallPlace): (RulePart & { of?: string })[] {
  const unreadable = { tool, text: undefined, also: [] }
  if (line === undefined || line.length > longest) return [unreadable]
  const { commands, reads, writes, isBroken } = shellParts(line)
  const file = (name: string) => (path: string) => ({ tool: name, text: seenFrom(path, place), also: [], of: tool })
  // A rule that narrows may also be about the line as a whole: `curl * | sh`.
  const parts = commands.map(({ text, also }, index) => ({ tool, text, also: index === 0 ? [...also, line.trim()] : also }))
  const all = [...parts, ...writes.map(file('Write')), ...reads.map(file('Read')), ...(isBroken ? [unreadable] : [])]
  return all.length > 0 ? all : [{ tool, text: line.trim(), also: [] }]
}

/** Some programs send the words of a command one by one. */
function commandText(given: unknown): string | undefined {
  if (typeof given === 'string') return given
  if (!Array.isArray(given) || !given.every((word) => typeof word === 'string')) return undefined
  return given.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
}

/** One path, or those of all files that a patch changes. */
function pathsOf(given: unknown, input: Fields, tool: string): string[] | undefined {
  if (typeof given === 'string') return [given]
  if (!isSmall(given, bounds)) return undefined
  if (Array.isArray(given)) {
    const paths = given.flatMap((change) => [fieldsOf(change).path, fieldsOf(fieldsOf(change).kind).move_path]).filter(isText)
    return paths.length >= given.length && paths.length > 0 && paths.length <= mostPaths ? paths : undefined
  }
  if (isObjectOrArray(given)) {
    const paths = Object.keys(given)
    return paths.length > 0 && paths.length <= mostPaths ? paths : undefined
  }
  const patch = [input.patch, input.input, input.diff].find(isText)
  const named: string[] = []
  for (const match of (patch ?? '').matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm)) {
    named.push(match[1]!)
    if (named.length > mostPaths) return undefined
  }
  if (named.length > 0) return named
  return tool === 'Write' || tool === 'Read' || tool === 'ReadDocument' ? undefined : ['.']
}

function addressOf(given: unknown): string | undefined {
  if (typeof given !== 'string' || !URL.canParse(given)) return undefined
  const url = new URL(given)
  url.username = ''
  url.password = ''
  return url.href
}

/** `./x` for what lies in the workspace, the whole path for anything else; without dots that lead elsewhere. */
export function seenFrom(path: string, { workspace }: CallPlace): string {
  if (workspace === undefined) return path.startsWith('/') ? sandboxPath(path) : relative(path)
  const top = sandboxPath(workspace.startsWith('/') ? workspace : `/${workspace}`)
  const whole = sandboxPath(path.startsWith('/') ? path : `${top}/${path}`)
  const below = relativeTo(top, whole)
  return below === undefined ? whole : below === '.' ? '.' : `./${below}`
}

/** Nobody has said where the workspace is: what leads out of it stays visible as such. */
function relative(path: string): string {
  const names: string[] = []
  for (const name of path.split('/')) {
    if (name === '..' && names.length > 0 && names.at(-1) !== '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return names[0] === '..' ? names.join('/') : ['.', ...names].join('/')
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const short = (text: string | undefined) => (text !== undefined && text.length > longest ? undefined : text)
