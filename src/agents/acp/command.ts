import { invalid, PawlError } from '../../domain/error.ts'
import type { Command, LaunchSpec } from '../port.ts'
import { wordsOf } from '../shared/program-options.ts'
import { attended } from './attendant.ts'
import type { AcpOptions } from './options.ts'

/** The program as its settings name it, with the model where it wants it; all else is said in the protocol. */
export function acpCommand(spec: LaunchSpec<AcpOptions>): Command {
  const { options, model, baseUrl } = spec
  check(spec)
  const [file = '', ...fixed] = wordsOf(options)
  const args = [...fixed, ...options.baseArgs, ...modelArgs(spec), ...spec.extraArgs]
  if (args.some((arg) => arg.includes('\0'))) throw invalid('A command line cannot carry a NUL character; remove it.')
  const env: Record<string, string> = {
    ...(options.modelVariable && model !== undefined ? { [options.modelVariable]: model } : {}),
    ...(options.baseUrlVariable && baseUrl !== undefined ? { [options.baseUrlVariable]: baseUrl } : {}),
  }
  if (options.serve.length === 0) return { file, args, env }
  return attended({ file: file.includes('/') ? file : (spec.program ?? file), args, env }, spec)
}

function modelArgs({ options: { modelFlag: flag }, model }: LaunchSpec<AcpOptions>): string[] {
  if (model === undefined) return []
  if (model.startsWith('-')) throw invalid(`The model name ${JSON.stringify(model)} begins with a dash; no model is called that.`)
  if (flag === undefined) return []
  return flag.startsWith('--') ? [`${flag.replace(/=$/, '')}=${model}`] : [flag, model]
}

function check(spec: LaunchSpec<AcpOptions>): void {
  const program = wordsOf(spec.options)[0] ?? ''
  if (spec.newSession !== undefined)
    throw new PawlError('unsupported', `${program} names its conversations itself; it cannot be given an id for a new one.`)
  if (spec.allowedTools?.length || spec.disallowedTools?.length)
    throw new PawlError(
      'unsupported',
      `${program} takes no list of tools: the rules of the profile decide what it asks for. Leave allowedTools and disallowedTools out.`,
    )
}
