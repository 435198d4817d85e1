import { PawlError } from '../../domain/error.ts'
import { compileGlob } from '../../domain/rule/glob.ts'
import { isSameTool } from '../../domain/rule/tools.ts'
import type { LaunchSpec } from '../port.ts'
import type { GeminiCliOptions } from './options.ts'
import { chooseTransport } from './transport.ts'

/** What it has as of 0.61. */
export const ownTools: readonly string[] = [
  ['run_shell_command', 'list_background_processes', 'read_background_output'],
  ['read_file', 'read_many_files', 'list_directory', 'glob', 'grep_search', 'write_file', 'replace'],
  ['web_fetch', 'google_web_search', 'invoke_agent', 'write_todos', 'update_topic'],
].flat()

/** Of these a request for permission tells all that a rule can be about. */
const asked: readonly string[] = ['run_shell_command', 'read_file', 'write_file', 'replace']

type Given = Pick<
  LaunchSpec<GeminiCliOptions>,
  'toolAccess' | 'options' | 'resume' | 'native' | 'disabledTools' | 'subagents' | 'walled'
>

/** Those about which it comes to us with each call. Where nobody has decided anything and no walls hold, that is all that changes something. */
export function askedTools({ toolAccess, walled }: Pick<Given, 'toolAccess' | 'walled'>): readonly string[] {
  if (toolAccess) return asked.filter((tool) => toolAccess.checked.includes(tool))
  return walled ? [] : asked.filter((tool) => tool !== 'read_file')
}

/**
 * Of its own tools those that it has at all. Others are not even known to it: a plan waits for a person at a terminal, and what it would remember goes into the
 * instructions of our own making. One whose calls cannot be told apart cannot be allowed in part: a rule about it takes it away.
 */
export function offeredTools(spec: Pick<Given, 'toolAccess' | 'native' | 'disabledTools' | 'subagents'>): readonly string[] {
  const { toolAccess, native, disabledTools = [], subagents } = spec
  const isNamed = (tool: string) =>
    disabledTools.some((other) => (other.includes('*') ? compileGlob(other).matches(tool) : isSameTool(tool, other)))
  const isRuled = (tool: string) =>
    toolAccess?.absent.includes(tool) === true || (!asked.includes(tool) && toolAccess?.checked.includes(tool) === true)
  const isHelper = (tool: string) => tool === 'invoke_agent' && subagents !== undefined && subagents.own !== 'all'
  return native === false ? [] : ownTools.filter((tool) => !isNamed(tool) && !isRuled(tool) && !isHelper(tool))
}

/** The setting for whose sake calls must come to us; undefined if none has to. */
export const consulted = ({ toolAccess }: Pick<Given, 'toolAccess'>): string | undefined =>
  toolAccess?.because[asked.find((tool) => toolAccess.checked.includes(tool)) ?? '']?.text

/** One-shot calls can ask nobody: where calls must come to us, a conversation whose process is gone is told to a new one. */
export const goesOn = (spec: Pick<Given, 'toolAccess' | 'options'>): boolean =>
  spec.options.transport !== 'acp' && consulted(spec) === undefined

/** What cannot be held is refused and never overlooked. */
export function checkRules(spec: Given): void {
  const rule = consulted(spec)
  if (rule === undefined || chooseTransport(spec) === 'acp') return
  const way = spec.resume === undefined ? 'leave the option transport out' : 'begin a new conversation'
  throw new PawlError(
    'unsupported',
    `Gemini CLI cannot be held to "${rule}" of the profile: spoken to by one-shot calls it can ask nobody; ${way}, or choose another profile.`,
  )
}

/**
 * Rules of its own form, in a file that only we write. They outrank its settings, by which whatever is not one of the offered tools is denied, those of servers too.
 * What is not offered is not there, so nothing more has to be denied.
 */
export const policy = (spec: Given): string =>
  [rule('*', 'allow', 700), ...askedTools(spec).map((tool) => rule(tool, 'ask_user', 800))].join('\n')

const rule = (tool: string, decision: string, priority: number) =>
  `[[rule]]\ntoolName = "${tool}"\ndecision = "${decision}"\npriority = ${priority}\nallowRedirection = true\n`
