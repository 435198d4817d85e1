import type { AgentHealth, ProbePlace } from '../port.ts'
import { probeProgram } from '../shared/probe-program.ts'
import type { CustomOptions } from './options.ts'
import { matchesIn } from './pattern.ts'

export const probeCommand = (options: CustomOptions, place: ProbePlace): Promise<AgentHealth> =>
  probeProgram(options, place, (printed) => {
    const { versionPattern: pattern } = options
    return (pattern === undefined ? undefined : matchesIn(pattern, [printed])?.[0]?.[1]) ?? printed
  })
