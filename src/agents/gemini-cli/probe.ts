import { readFile, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { asObject } from '../../domain/base/object.ts'
import type { AgentHealth, ProbePlace } from '../port.ts'
import { probeFound } from '../shared/found-program.ts'
import { parseJson } from '../shared/json.ts'
import { readVersion } from '../shared/version.ts'
import { login, readCredentials } from './login.ts'
import type { GeminiCliOptions } from './options.ts'
import { install, parseVersion } from './versions.ts'

/** A key may also come with the agent's configuration, so a missing login alone makes nobody unhealthy. */
export async function probeGemini(options: GeminiCliOptions, place: ProbePlace): Promise<AgentHealth> {
  const { command } = options
  return probeFound(command, place, install, async (file) => {
    // What npm puts on the search path is a link; the walls show the place where the program really lies.
    const program = await realpath(file)
    const state = await loginState(command, program, place)
    const packed = await packageVersion(program)
    if (packed !== undefined) return { installed: true, program, version: packed, healthy: true, ...state }
    const answer = await readVersion(program, ['--version'], place, file)
    if ('unasked' in answer)
      return { installed: true, program, healthy: true, ...state, detail: `${state.detail}; ${answer.unasked}` }
    const version = 'version' in answer ? parseVersion(answer.version) : undefined
    if (version !== undefined) return { installed: true, program, version, healthy: true, ...state }
    const said = 'fault' in answer ? answer.fault : `it printed ${JSON.stringify(answer.version)}, which is no version`
    return {
      installed: true,
      program,
      healthy: false,
      detail: `${program} --version: ${said}`,
      fix: `Install it again: ${install}`,
    }
  })
}

/** To be asked for its version the program starts whole, which takes longer than a turn. What npm has installed says it beside it. */
async function packageVersion(program: string): Promise<string | undefined> {
  const text = await readFile(join(dirname(dirname(program)), 'package.json'), 'utf8').catch(() => '')
  const parsed = parseJson(text)
  const { name, version } = ('value' in parsed ? asObject(parsed.value) : undefined) ?? {}
  return name === '@google/gemini-cli' && typeof version === 'string' ? parseVersion(version) : undefined
}

async function loginState(
  command: string,
  program: string,
  { environment, home }: ProbePlace,
): Promise<Pick<AgentHealth, 'loggedIn' | 'detail' | 'fix'>> {
  const at = `found at ${program}`
  const [variable] = Object.entries(environment?.(login.variables) ?? {}).find(([, value]) => value !== '') ?? []
  if (variable !== undefined) return { loggedIn: true, detail: `${at}; its key is in ${variable}` }
  if (home === undefined) return { detail: at }
  for (const { path } of login.files)
    if (readCredentials(await readFile(join(home, path), 'utf8').catch(() => '')))
      return { loggedIn: true, detail: `${at}; logged in` }
  return {
    loggedIn: false,
    detail: `${at}; not logged in`,
    fix: `Run "${command}" once in a terminal and log in, or set ${login.variables[0]}.`,
  }
}
