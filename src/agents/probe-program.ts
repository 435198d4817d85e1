import type { AgentHealth, ProbePlace } from '../agent.ts'
import { messageOf } from '../domain/error.ts'
import { which } from '../process/which.ts'
import { type ProgramOptions, wordsOf } from './program-options.ts'
import { readVersion } from './version.ts'

/** Of a program that is known by its settings alone: is it there, which version, and has it a key? `versionIn` finds the version in what it prints. */
export async function probeProgram(
  options: ProgramOptions,
  place: ProbePlace,
  versionIn: (printed: string) => string = (printed) => printed,
): Promise<AgentHealth> {
  const program = wordsOf(options)[0] ?? ''
  try {
    if (program.includes('/') && !program.startsWith('/') && place.folder === undefined)
      return { installed: true, healthy: true, detail: `${program} is looked up in the workspace of each task` }
    const found = which(program, place)
    if ('missing' in found) return missing(program, found, options.install)
    const known = { installed: true, healthy: true, ...loginOf(options, place) }
    const detail = `found at ${found.file}${known.loggedIn === false ? '; no key is set' : ''}`
    if (!options.versionArgs) return { ...known, detail }
    const answer = await readVersion(found.file, options.versionArgs, place)
    if ('unasked' in answer) return { ...known, detail: `${detail}; ${answer.unasked}` }
    if ('version' in answer) return { ...known, version: versionIn(answer.version), detail }
    const fix = 'Run that command in a terminal to see why, or correct versionArgs.'
    return { installed: true, healthy: false, detail: `${found.file} ${options.versionArgs.join(' ')}: ${answer.fault}`, fix }
  } catch (thrown) {
    return { installed: false, healthy: false, detail: `${program} could not be checked: ${messageOf(thrown)}.` }
  }
}

/** A program that names no keys needs none, or keeps them where nobody knows. */
function loginOf({ keys }: ProgramOptions, { environment }: ProbePlace): Pick<AgentHealth, 'loggedIn' | 'fix'> {
  if (keys.length === 0 || !environment) return {}
  const loggedIn = Object.values(environment(keys)).some((value) => value.trim() !== '')
  return loggedIn ? { loggedIn } : { loggedIn, fix: `export ${keys[0]}=… (the key of its model)` }
}

function missing(
  program: string,
  found: { readonly missing: 'not_found' | 'not_executable'; readonly looked: string },
  install: string | undefined,
): AgentHealth {
  if (found.missing === 'not_executable') {
    const detail = `${found.looked} is there but cannot be executed.`
    return { installed: false, healthy: false, detail, fix: `Make it executable: chmod +x ${found.looked}` }
  }
  const detail = program.includes('/')
    ? `${found.looked} does not exist.`
    : `${program} is not on the search path ${found.looked}.`
  return {
    installed: false,
    healthy: false,
    detail,
    fix: install ?? `Install ${program}, or correct the agent's command in pawl.yaml.`,
  }
}
