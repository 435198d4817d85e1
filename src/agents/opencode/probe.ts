import { realpath, stat } from 'node:fs/promises'
import { arch, platform } from 'node:os'
import { dirname, join } from 'node:path'
import type { AgentHealth, ProbePlace } from '../port.ts'
import { probeFound } from '../shared/found-program.ts'
import { numberedVersion } from '../shared/version.ts'
import type { OpencodeOptions } from './options.ts'
import { wires } from './settings.ts'
import { chooseTransport, install, isTooOld, oldestVersion } from './versions.ts'

export async function probeOpencode(options: OpencodeOptions, place: ProbePlace): Promise<AgentHealth> {
  return probeFound(options.command, place, install, async (file) => {
    const program = await nativeProgram(file)
    const answer = await numberedVersion(program, place, file)
    if ('broken' in answer) return answer.broken
    const { version, aside } = answer
    const known = { installed: true, program, version, loggedIn: hasKey(options, place) }
    if (version !== undefined && options.transport === 'acp' && isTooOld(version)) {
      const detail = `opencode ${version} at ${program} is too old to be spoken to by acp; ${oldestVersion} is the oldest that works.`
      return { ...known, healthy: false, detail, fix: `${install}@latest` }
    }
    const detail = `found at ${program}, spoken to by ${chooseTransport({ options, version })}${aside}`
    return known.loggedIn === false
      ? {
          ...known,
          healthy: true,
          detail: `${detail}; no key is set`,
          fix: `export ${wires[options.wire].key}=… (or list its model under "models:")`,
        }
      : { ...known, healthy: true, detail }
  })
}

/** Its own login is not used: what stands there would get into the database of each session. */
function hasKey({ wire }: OpencodeOptions, { environment }: ProbePlace): boolean | undefined {
  return environment && Object.values(environment([wires[wire].key])).some((value) => value !== '')
}

/** What npm installs as `opencode` may be a script that starts the real program, and a kill that hits only the script leaves the agent running. */
async function nativeProgram(file: string): Promise<string> {
  const real = await realpath(file)
  const launcher = dirname(dirname(real))
  if (!/\/opencode-ai\/bin\/opencode$/.test(real)) return real
  const name = `opencode-${platform()}-${arch()}`
  for (const folder of [join(launcher, '..', name), join(launcher, 'node_modules', name)]) {
    const program = join(folder, 'bin', 'opencode')
    if ((await stat(program).catch(() => undefined))?.isFile()) return program
  }
  return real
}
