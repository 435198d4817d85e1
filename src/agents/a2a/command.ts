import { PawlError } from '../../domain/error.ts'
import type { Command, LaunchSpec } from '../port.ts'
import { type A2aOptions, hostsOf } from './options.ts'
import type { Settings } from './program/settings.ts'
import { program } from './program.ts'

export const keyVariable = 'PAWL_A2A_KEY'

export function a2aCommand(spec: LaunchSpec<A2aOptions>): Command {
  if (spec.extraArgs.length > 0) throw new PawlError('unsupported', 'A remote agent takes no extra arguments.')
  const { url, local, keyHeader, metadata } = spec.options
  const settings: Settings & { keyVariable: string } = {
    url,
    hosts: hostsOf(spec.options),
    local,
    keyHeader,
    metadata,
    keyVariable: spec.options.keyVariable ?? keyVariable,
    maxFileBytes: 32 * 1024 * 1024,
    maxFiles: 200,
  }
  return program.command(spec.home, settings)
}
