import { readFile, realpath, stat } from 'node:fs/promises'
import { arch, platform } from 'node:os'
import { dirname, join } from 'node:path'
import type { AgentHealth, ProbePlace } from '../port.ts'
import { probeFound } from '../shared/found-program.ts'
import { numberedVersion } from '../shared/version.ts'
import type { CodexOptions } from './options.ts'
import { login } from './session-files.ts'
import { chooseTransport, install, isTooOld, oldestVersion } from './transport.ts'

export async function probeCodex(options: CodexOptions, place: ProbePlace): Promise<AgentHealth> {
  return probeFound(options.command, place, install, async (file) => {
    const program = await nativeProgram(file)
    const answer = await numberedVersion(program, place, file)
    if ('broken' in answer) return answer.broken
    const { version, aside } = answer
    const loggedIn = await isLoggedIn(place)
    const known = { installed: true, program, version, loggedIn }
    if (version !== undefined && isTooOld(version, options.transport)) {
      const detail = `Codex ${version} at ${program} is too old; ${oldestVersion(options.transport)} is the oldest that works.`
      return { ...known, healthy: false, detail, fix: `${install}@latest` }
    }
    const detail = `found at ${program}, spoken to by ${chooseTransport({ options, version })}${aside}`
    return loggedIn === false
      ? { ...known, healthy: true, detail: `${detail}; not logged in`, fix: 'codex login' }
      : { ...known, healthy: true, detail }
  })
}

/**
 * What npm installs as `codex` is a script that starts the real program, and a kill that hits only the script leaves the agent
 * running. Anything that is no such script is the program itself.
 */
async function nativeProgram(file: string): Promise<string> {
  const real = await realpath(file)
  if (!real.endsWith('/bin/codex.js')) return real
  const launcher = dirname(dirname(real))
  const target = targets[`${platform()}-${arch()}`] ?? ''
  const packages = [
    join(launcher, '..', `codex-${platform()}-${arch()}`),
    join(launcher, 'node_modules', '@openai', `codex-${platform()}-${arch()}`),
    launcher,
  ]
  for (const folder of packages) {
    for (const place of ['bin', 'codex']) {
      const program = join(folder, 'vendor', target, place, 'codex')
      if ((await stat(program).catch(() => undefined))?.isFile()) return program
    }
  }
  return real
}

const targets: Record<string, string> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
}

/** Undefined where nobody said where to look. */
async function isLoggedIn({ home, environment }: ProbePlace): Promise<boolean | undefined> {
  if (environment && Object.values(environment(login.variables)).some((value) => value !== '')) return true
  if (home === undefined) return environment ? false : undefined
  for (const file of login.files) {
    const text = await readFile(join(home, file.path), 'utf8').catch(() => undefined)
    if (text !== undefined && file.newness(text) !== undefined) return true
  }
  return false
}
