import { posix } from 'node:path'
import type { Command, LaunchSpec } from '../../agent.ts'
import { invalid, PawlError } from '../../domain/error.ts'
import type { CustomOptions } from './options.ts'

/** Linux takes 128 KiB for one argument; the rest is room for a flag. */
const maxArgumentBytes = 100 * 1024
const promptFile = '.pawl-prompt.txt'

/** Fixed arguments, model, system prompt, extra arguments, and the prompt last. */
export function customCommand(spec: LaunchSpec<CustomOptions>): Command {
  const { options } = spec
  const [file = '', ...fixed] = options.command
  if (spec.resume !== undefined) {
    throw new PawlError('unsupported', `The command ${file} cannot go on with an earlier conversation; start the task afresh.`)
  }
  const args = [...fixed, ...modelArgs(spec), ...systemPromptArgs(spec), ...options.args, ...spec.extraArgs]
  for (const arg of args) checkNul('an argument', arg)
  switch (options.prompt) {
    case 'stdin':
      return { file, args, env: {} }
    case 'file':
      return { file, args: [...args, posix.join(spec.home, promptFile)], env: {}, files: { [promptFile]: spec.prompt } }
    case 'flag':
      return { file, args: [...args, ...flagged(options.promptFlag ?? '', spec.prompt, 'prompt')], env: {} }
    case 'arg':
      checkArgument('prompt', spec.prompt)
      return { file, args: [...args, '--', spec.prompt], env: {} }
  }
}

function modelArgs({ options, model }: LaunchSpec<CustomOptions>): string[] {
  if (model === undefined) return []
  // One that speaks of its format finds the name in PAWL_MODEL.
  if (!options.modelFlag && options.wire) return []
  if (!options.modelFlag) throw unsupported(options, 'model', 'modelFlag')
  if (model.startsWith('-')) throw invalid(`The model name ${JSON.stringify(model)} begins with a dash; no model is called that.`)
  return flagged(options.modelFlag, model, 'model')
}

function systemPromptArgs({ options, systemPrompt }: LaunchSpec<CustomOptions>): string[] {
  if (systemPrompt === undefined) return []
  if (!options.systemPromptFlag) throw unsupported(options, 'system prompt', 'systemPromptFlag')
  return flagged(options.systemPromptFlag, systemPrompt, 'system prompt')
}

const unsupported = (options: CustomOptions, what: string, option: keyof CustomOptions) =>
  new PawlError(
    'unsupported',
    `A ${what} is set, but Pawl does not know how the command ${options.command[0]} takes one; set ${option} or remove the ${what}.`,
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
