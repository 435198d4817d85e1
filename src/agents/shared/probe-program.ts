import type { AgentHealth, ProbePlace } from '../port.ts'
import { probeFound } from './found-program.ts'
import { type ProgramOptions, wordsOf } from './program-options.ts'
import { readVersion } from './version.ts'

/** Of a program that is known by its settings alone: is it there, which version, and has it a key? `versionIn` finds the version in what it prints. */
export async function probeProgram(
  options: ProgramOptions,
  place: ProbePlace,
  versionIn: (printed: string) => string = (printed) => printed,
): Promise<AgentHealth> {
  const program = wordsOf(options)[0] ?? ''
  const install = options.install ?? `Install ${program}, or correct the agent's command in pawl.yaml.`
  return probeFound(program, place, install, async (file) => {
    const known = { installed: true, healthy: true, ...loginOf(options, place) }
    const detail = `found at ${file}${known.loggedIn === false ? '; no key is set' : ''}`
    if (!options.versionArgs) return { ...known, detail }
    // What a user wrote as a command may be a script around the program, which says nothing of it by staying the same.
    const answer = await readVersion(file, options.versionArgs, { ...place, versions: undefined })
    if ('unasked' in answer) return { ...known, detail: `${detail}; ${answer.unasked}` }
    if ('version' in answer) return { ...known, version: versionIn(answer.version), detail }
    const fix = 'Run that command in a terminal to see why, or correct versionArgs.'
    return { installed: true, healthy: false, detail: `${file} ${options.versionArgs.join(' ')}: ${answer.fault}`, fix }
  })
}

/** A program that names no keys needs none, or keeps them where nobody knows. */
function loginOf({ keys }: ProgramOptions, { environment }: ProbePlace): Pick<AgentHealth, 'loggedIn' | 'fix'> {
  if (keys.length === 0 || !environment) return {}
  const loggedIn = Object.values(environment(keys)).some((value) => value.trim() !== '')
  return loggedIn ? { loggedIn } : { loggedIn, fix: `export ${keys[0]}=… (the key of its model)` }
}
