import { posix } from 'node:path'
import type { Command, LaunchSpec } from '../../agent.ts'
import { PawlError } from '../../domain/error.ts'
import { type A2aOptions, hostsOf } from './options.ts'
import type { Settings } from './program/settings.ts'
import { programFiles } from './program-files.ts'

const folder = '.pawl-a2a'
const settingsFile = `${folder}/settings.json`
export const keyVariable = 'PAWL_A2A_KEY'

/** The client travels as files of the session home, as inside the walls Pawl's own folder may not be readable. What is asked comes by stdin. */
export function a2aCommand(spec: LaunchSpec<A2aOptions>): Command {
  if (spec.extraArgs.length > 0) throw new PawlError('unsupported', 'A remote agent takes no extra arguments.')
  const { main, files } = programFiles()
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
  return {
    file: process.execPath,
    args: [posix.join(spec.home, folder, main), posix.join(spec.home, settingsFile)],
    env: {},
    files: {
      ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text])),
      [settingsFile]: JSON.stringify(settings),
    },
  }
}
