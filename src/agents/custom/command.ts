import { posix } from 'node:path'
import { asObject, type Fields } from '../../domain/base/object.ts'
import { invalid, PawlError } from '../../domain/error.ts'
import type { Command, LaunchSpec } from '../port.ts'
import { wordsOf } from '../shared/program-options.ts'
import { idForm, withSession } from '../shared/program-sessions.ts'
import type { CustomOptions } from './options.ts'

type Spec = LaunchSpec<CustomOptions>

/** Linux takes 128 KiB for one argument; the rest is room for a flag. */
const maxArgumentBytes = 100 * 1024
const promptFile = '.pawl-prompt.txt'
const systemPromptFile = '.pawl-system-prompt.md'
const serversFile = '.pawl-mcp.json'

/** Fixed arguments, the conversation to go on with, base arguments, model, system prompt, our tools, extra arguments, and the prompt last. */
export function customCommand(spec: Spec): Command {
  const { options } = spec
  const [file = '', ...fixed] = wordsOf(options)
  const systemPrompt = systemPromptOf(spec)
  const tools = toolsOf(spec)
  const args = [
    ...fixed,
    ...resumeArgs(spec),
    ...options.baseArgs,
    ...modelArgs(spec),
    ...systemPrompt.args,
    ...tools.args,
    ...options.args,
    ...spec.extraArgs,
  ]
  for (const arg of args) checkNul('an argument', arg)
  const prompt = promptOf(spec)
  const files = { ...options.homeFiles, ...systemPrompt.files, ...tools.files, ...prompt.files }
  return { file, args: [...args, ...prompt.args], env: variablesOf(spec), ...(Object.keys(files).length > 0 ? { files } : {}) }
}

/** The words that the program is to hear: with the system prompt before them if there is no better way. */
export const wholePrompt = ({ options, systemPrompt }: Pick<Spec, 'options' | 'systemPrompt'>, prompt: string) =>
  options.systemPromptVia === 'prefix' && systemPrompt !== undefined ? `${systemPrompt}\n\n${prompt}` : prompt

interface Part {
  readonly args: readonly string[]
  readonly files?: Readonly<Record<string, string>>
}

function promptOf(spec: Spec): Part {
  const { options } = spec
  const prompt = wholePrompt(spec, spec.prompt)
  switch (options.prompt) {
    case 'stdin':
      return { args: [] }
    case 'file': {
      const path = posix.join(spec.home, promptFile)
      const { promptFlag } = options
      return { args: promptFlag ? flagged(promptFlag, path, 'prompt') : [path], files: { [promptFile]: prompt } }
    }
    case 'flag':
      return { args: flagged(options.promptFlag ?? '', prompt, 'prompt') }
    case 'arg':
      checkArgument('prompt', prompt)
      return { args: ['--', prompt] }
  }
}

function resumeArgs({ options, resume }: Spec): string[] {
  if (resume === undefined) return []
  if (!options.resume) {
    throw new PawlError(
      'unsupported',
      `The command ${wordsOf(options)[0]} cannot go on with an earlier conversation; start the task afresh.`,
    )
  }
  if (!idForm.test(resume)) throw invalid(`${JSON.stringify(resume)} is no id of a conversation; start the task afresh.`)
  return options.resume.map((argument) => withSession(argument, resume))
}

function modelArgs({ options, model: named, baseUrl }: Spec): string[] {
  if (named === undefined) return []
  if (named.startsWith('-')) throw invalid(`The model name ${JSON.stringify(named)} begins with a dash; no model is called that.`)
  const prefix = baseUrl === undefined ? '' : (options.modelPrefix ?? '')
  const model = named.startsWith(prefix) ? named : `${prefix}${named}`
  if (options.modelFlag) return flagged(options.modelFlag, model, 'model')
  if (options.modelArg) return [model]
  // One that speaks of its format finds the name in PAWL_MODEL.
  if (options.modelVariable || options.wire) return []
  throw unsupported(options, 'model', 'modelFlag')
}

function systemPromptOf({ options, systemPrompt, home }: Spec): Part {
  const { systemPromptFlag: flag, systemPromptVia: via, systemPromptPath: path } = options
  if (systemPrompt === undefined || via === 'prefix') return { args: [] }
  if (via === 'file') {
    const place = path ?? systemPromptFile
    const args = flag === undefined ? [] : flagged(flag, posix.join(home, place), 'system prompt')
    return { args, files: { [place]: systemPrompt } }
  }
  if (!flag) throw unsupported(options, 'system prompt', 'systemPromptFlag')
  return { args: flagged(flag, systemPrompt, 'system prompt') }
}

function toolsOf({ options: { mcp }, tools, home, servers = [] }: Spec): Part {
  if (!mcp || !tools) return { args: [] }
  const place = mcp.path ?? serversFile
  const args = mcp.flag === undefined ? [] : flagged(mcp.flag, posix.join(home, place), 'file of servers')
  return { args, files: { [place]: withServers(mcp.content, servers) } }
}

/** The user's own servers beside ours, each written as ours is. A file that is no JSON, or names ours nowhere, cannot be added to. */
function withServers(content: string, servers: readonly string[]): string {
  if (servers.length === 0) return content
  const file = parseFields(content)
  const [key, listed] = Object.entries(file ?? {}).find(([, value]) => asObject(value)?.pawl !== undefined) ?? []
  if (file === undefined || key === undefined)
    throw new PawlError(
      'unsupported',
      'Pawl cannot add your servers of tools to "mcp.content", which names no server "pawl" in JSON: set "mcpServers: none" of the agent, or write the file so.',
    )
  const ours = JSON.stringify(asObject(listed)?.pawl)
  const added = servers.map((name) => [name, JSON.parse(ours.replaceAll(/\/mcp(?=")/g, `/mcp/${name}`))])
  return JSON.stringify({ ...file, [key]: { ...asObject(listed), ...Object.fromEntries(added) } })
}

const variablesOf = ({ options, model, baseUrl }: Spec): Record<string, string> => ({
  ...(options.modelVariable && model !== undefined ? { [options.modelVariable]: model } : {}),
  ...(options.baseUrlVariable && baseUrl !== undefined ? { [options.baseUrlVariable]: baseUrl } : {}),
})

const unsupported = (options: CustomOptions, what: string, option: keyof CustomOptions) =>
  new PawlError(
    'unsupported',
    `A ${what} is set, but Pawl does not know how the command ${wordsOf(options)[0]} takes one; set ${option} or remove the ${what}.`,
    { details: { option } },
  )

/**
 * A value that begins with a dash must never be read as an option. Long flags carry it behind an equals sign. Programs differ on
 * that for short flags, so there a space goes before the dash, which every argument parser takes for plain text.
 */
function flagged(flag: string, value: string, what: string): string[] {
  checkArgument(what, value)
  if (flag.startsWith('--')) return [`${flag.replace(/=$/, '')}=${value}`]
  return [flag, value.startsWith('-') ? ` ${value}` : value]
}

function checkArgument(what: string, value: string): void {
  checkNul(`the ${what}`, value)
  const bytes = Buffer.byteLength(value)
  if (bytes <= maxArgumentBytes) return
  const cure = what === 'prompt' ? 'set prompt: stdin or prompt: file' : 'shorten it'
  throw invalid(`The ${what} has ${bytes} bytes; as an argument of a command it may have ${maxArgumentBytes}. ${cure}.`)
}

function checkNul(what: string, value: string): void {
  if (value.includes('\0')) throw invalid(`A command line cannot carry a NUL character, and ${what} holds one; remove it.`)
}

function parseFields(text: string): Fields | undefined {
  try {
    return asObject(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
