import { asObject, type Fields } from '../../domain/base/object.ts'
import { toolFacts, toolNamed } from '../../domain/rule/tools.ts'
import { list, text } from '../shared/fields.ts'
import { harmless } from '../shared/harmless.ts'
import { isShallow } from '../shared/json.ts'
import { cut, pieceChars } from '../shared/text.ts'
import type { Habits } from './habits.ts'

/** A call of a tool, as far as it was told. Each update replaces the asObject that it names; by `firstTitle` some programs name the tool. */
export interface Call {
  readonly callId: string
  readonly told: Fields
}

const maxIdChars = 1024

export function mergeCall(before: Call | undefined, update: Fields): Call {
  const named = Object.entries(update).filter(([, value]) => value !== undefined && value !== null)
  return {
    callId: cut(text(update.toolCallId) ?? '', maxIdChars),
    told: { firstTitle: update.title, ...before?.told, ...Object.fromEntries(named) },
  }
}

/** A call is told when it is known what it is about: programs name many before they have their input. */
export function isKnown({ told }: Call): boolean {
  if (told.status !== undefined && told.status !== 'pending') return true
  const input = asObject(told.rawInput)
  // Where it is done says nothing of what is done.
  return input ? Object.keys(input).some((name) => name !== 'cwd') : told.rawInput !== undefined
}

export const isOver = ({ told }: Call) => told.status === 'completed' || told.status === 'failed'

/** The tool and what it is to do, under names that rules know where there are such. */
export function toolOf({ told }: Call, habits: Pick<Habits, 'tool'>): { readonly tool: string; readonly input: unknown } {
  const own = habits.tool?.(told)
  if (own) return { tool: cut(own.name || 'tool', maxIdChars), input: harmless(own.input) }
  const kind = kinds.get(text(told.kind) ?? '')
  const named = text(told.name) ?? metaName(asObject(told._meta))
  const isRuled = named !== undefined && (toolFacts(toolNamed(named).name) !== undefined || !toolNamed(named).native)
  const tool = (isRuled ? named : (kind ?? named)) || text(told.title) || 'tool'
  return { tool: cut(tool, maxIdChars), input: harmless(inputOf(told, tool)) }
}

/** A kind of tool, by the name under which rules know it. */
const kinds = new Map([
  ['read', 'Read'],
  ['edit', 'Edit'],
  ['delete', 'Edit'],
  ['move', 'Edit'],
  ['search', 'Grep'],
  ['execute', 'execute'],
  ['fetch', 'fetch'],
])

/** Programs that keep their own name of a tool put it here: at once, or under their own name. */
function metaName(meta: Fields | undefined): string | undefined {
  if (!meta) return undefined
  return (
    text(meta.toolName) ??
    Object.values(meta)
      .map((own) => text(asObject(own)?.toolName))
      .find((name) => name !== undefined)
  )
}

/** Its raw input; with the files it is about where that does not name them. */
function inputOf(told: Fields, tool: string): unknown {
  const raw = asObject(told.rawInput) ?? (told.rawInput === undefined ? {} : { input: told.rawInput })
  const facts = toolFacts(toolNamed(tool).name)
  if (facts?.about === 'command') return unwrapped(raw)
  if (facts?.about !== 'path' || facts.fields.some((name) => raw[name] !== undefined)) return raw
  const paths = new Set(
    [...list(told.locations), ...list(told.content).filter((part) => asObject(part)?.type === 'diff')].flatMap(
      (part) => text(asObject(part)?.path) ?? [],
    ),
  )
  if (paths.size === 0) return raw
  const [first] = paths
  return paths.size === 1 ? { ...raw, path: first } : { ...raw, changes: [...paths].map((path) => ({ path })) }
}

/** `["bash", "-lc", "make"]` says no more than `make`. */
function unwrapped(raw: Fields): Fields {
  const words = raw.command
  if (!Array.isArray(words) || words.length !== 3) return raw
  const [shell, flag, line] = words.map(text)
  return /(^|\/)(ba|z|da)?sh$/.test(shell ?? '') && /^-l?c$/.test(flag ?? '') && line !== undefined
    ? { ...raw, command: line }
    : raw
}

/** What a tool gave back, as text: what ran in a terminal, what the program calls its output, or else what it shows. */
export function outputOf({ told }: Call, terminal: (id: string) => string | undefined = () => undefined): string {
  const parts = list(told.content).map(asObject)
  const ran = terminalsIn(parts)
    .map(terminal)
    .filter((output) => output !== undefined)
  const shown = parts.map((part) => shownText(part)).filter((part) => part.trim() !== '')
  const output = ran.join('\n') || namedOutput(told.rawOutput) || shown.join('\n')
  return cut(output || (namedOutput(told.rawOutput) === undefined ? asJson(told.rawOutput) : ''), pieceChars)
}

const terminalsIn = (parts: readonly (Fields | undefined)[]) =>
  parts.filter((part) => part?.type === 'terminal').map((part) => text(part?.terminalId) ?? '')

/** The terminals that show what it does; a program that names none may take the call's own id. */
export const terminalsOf = ({ told }: Call): readonly string[] => [
  text(told.toolCallId) ?? '',
  ...terminalsIn(list(told.content).map(asObject)),
]

/** A command that ran and failed has failed, whether or not the call counts as completed. */
export function isFailed({ told }: Call): boolean {
  const exit = asObject(asObject(told._meta)?.terminal_exit)
  const raw = asObject(told.rawOutput)
  const codes = [exit?.exit_code, raw?.exit_code, raw?.exitCode]
  return told.status === 'failed' || codes.some((code) => typeof code === 'number' && code !== 0)
}

/** A piece of what a terminal shows that the program itself runs; there is no place for it in the protocol but this. */
export function terminalPiece(update: Fields): { readonly id: string; readonly data: string } | undefined {
  const meta = asObject(update._meta)
  const piece = asObject(meta?.terminal_output_delta) ?? asObject(meta?.terminal_output)
  const data = text(piece?.data)
  return data === undefined ? undefined : { id: text(piece?.terminal_id) ?? text(update.toolCallId) ?? '', data }
}

function shownText(part: Fields | undefined): string {
  if (part?.type === 'diff') return `changed ${text(part.path) ?? ''}`
  if (part?.type !== 'content') return ''
  const block = blockText(part.content)
  return /^```\w*\n([\s\S]*?)\n?```\s*$/.exec(block)?.[1] ?? block
}

/** The text of one block of content, or what stands for it. */
export function blockText(value: unknown): string {
  const block = asObject(value)
  if (block?.type === 'text') return text(block.text) ?? ''
  if (block?.type === 'resource_link') return `[${text(block.name) ?? 'a file'}: ${text(block.uri) ?? ''}]`
  if (block?.type === 'resource')
    return text(asObject(block.resource)?.text) ?? `[${text(asObject(block.resource)?.uri) ?? 'a file'}]`
  return block?.type === 'image' || block?.type === 'audio' ? `[${block.type}]` : ''
}

/** Undefined: nothing in it is known to be an output. */
function namedOutput(raw: unknown): string | undefined {
  if (typeof raw === 'string') return text(raw)
  const known = ['formatted_output', 'aggregated_output', 'output', 'stdout', 'error'].map((name) => text(asObject(raw)?.[name]))
  return known.find((part) => part !== undefined && part !== '') ?? known.find((part) => part !== undefined)
}

const asJson = (raw: unknown) => (raw === undefined || !isShallow(raw, 32) ? '' : (JSON.stringify(raw) ?? ''))
