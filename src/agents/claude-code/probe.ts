import { readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentHealth, ProbePlace } from '../port.ts'
import { probeFound } from '../shared/found-program.ts'
import { readVersion } from '../shared/version.ts'
import { login, readCredentials } from './login.ts'
import type { ClaudeCodeOptions } from './options.ts'
import { install, isAtLeast, oldestVersion, parseVersion } from './versions.ts'

const installIt = `Install it (${install})`

/** A key may also come with the agent's configuration, so a missing login alone makes nobody unhealthy. */
export async function probeClaude(options: ClaudeCodeOptions, place: ProbePlace): Promise<AgentHealth> {
  const { command } = options
  return probeFound(command, place, `${installIt}, or correct the agent's command in pawl.yaml.`, async (file) => {
    // What npm and the installer put on the search path is a link; the walls show the place where the program really lies.
    const program = await realpath(file)
    const answer = await readVersion(program, ['--version'], place, file)
    if ('unasked' in answer) {
      const { detail, ...state } = await loginState(command, program, place)
      return { installed: true, program, healthy: true, ...state, detail: `${detail}; ${answer.unasked}` }
    }
    const version = 'version' in answer ? parseVersion(answer.version) : undefined
    if (version === undefined) {
      const said =
        'fault' in answer ? answer.fault : `it printed ${JSON.stringify(answer.version)}, which is no version of Claude Code`
      return { installed: true, program, healthy: false, detail: `${program} --version: ${said}`, fix: `${installIt} again.` }
    }
    if (!isAtLeast(version, oldestVersion)) {
      const detail = `${program} is version ${version}; Pawl needs ${oldestVersion} or newer.`
      return { installed: true, program, version, healthy: false, detail, fix: `Run "${command} update".` }
    }
    return { installed: true, program, version, healthy: true, ...(await loginState(command, program, place)) }
  })
}

async function loginState(
  command: string,
  program: string,
  place: ProbePlace,
): Promise<Pick<AgentHealth, 'loggedIn' | 'detail' | 'fix'>> {
  const at = `found at ${program}`
  const [variable] = Object.entries(place.environment?.(login.variables) ?? {}).find(([, value]) => value !== '') ?? []
  if (variable !== undefined) return { loggedIn: true, detail: `${at}; its key is in ${variable}` }
  if (place.home === undefined) return { detail: at }
  for (const { path } of login.files) {
    const text = await readFile(join(place.home, path), 'utf8').catch(() => '')
    const found = readCredentials(text)
    if (found)
      return { loggedIn: true, detail: `${at}; logged in${found.expiresAt < Date.now() ? ', with a token to be renewed' : ''}` }
  }
  const fix = `Run "${command}" once in a terminal and log in, or set ${login.variables[0]}.`
  return { loggedIn: false, detail: `${at}; not logged in`, fix }
}
