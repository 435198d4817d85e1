import type { AgentHealth, ProbePlace } from '../../agent.ts'
import { messageOf } from '../../domain/error.ts'
import { which } from '../../process/which.ts'
import { readVersion } from '../version.ts'
import type { CustomOptions } from './options.ts'

export async function probeCommand(options: CustomOptions, place: ProbePlace): Promise<AgentHealth> {
  const program = options.command[0] ?? ''
  try {
    if (program.includes('/') && !program.startsWith('/') && place.folder === undefined) {
      return { installed: true, healthy: true, detail: `${program} is looked up in the workspace of each task` }
    }
    const found = which(program, place)
    if ('missing' in found) return missing(program, found)
    if (!options.versionArgs) return { installed: true, healthy: true, detail: `found at ${found.file}` }
    const answer = await readVersion(found.file, options.versionArgs, place)
    if ('unasked' in answer) return { installed: true, healthy: true, detail: `found at ${found.file}; ${answer.unasked}` }
    if ('fault' in answer) {
      const detail = `${found.file} ${options.versionArgs.join(' ')}: ${answer.fault}`
      return {
        installed: true,
        healthy: false,
        detail,
        fix: 'Run that command in a terminal to see why, or correct versionArgs.',
      }
    }
    return { installed: true, healthy: true, version: answer.version, detail: `found at ${found.file}` }
  } catch (thrown) {
    return { installed: false, healthy: false, detail: `${program} could not be checked: ${messageOf(thrown)}.` }
  }
}

function missing(program: string, found: { missing: 'not_found' | 'not_executable'; looked: string }): AgentHealth {
  if (found.missing === 'not_executable') {
    const detail = `${found.looked} is there but cannot be executed.`
    return { installed: false, healthy: false, detail, fix: `Make it executable: chmod +x ${found.looked}` }
  }
  const detail = program.includes('/')
    ? `${found.looked} does not exist.`
    : `${program} is not on the search path ${found.looked}.`
  return { installed: false, healthy: false, detail, fix: `Install ${program}, or correct the agent's command in pawl.yaml.` }
}
