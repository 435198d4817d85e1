import { realpath } from 'node:fs/promises'
import { which } from '../../sandbox/process/which.ts'
import type { AgentHealth, ProbePlace } from '../port.ts'
import { probeProgram } from '../shared/probe-program.ts'
import { wordsOf } from '../shared/program-options.ts'
import type { AcpOptions } from './options.ts'

/** Whether it speaks the protocol shows when it is started. */
export async function probeAcp(options: AcpOptions, place: ProbePlace): Promise<AgentHealth> {
  const health = await probeProgram(options, place)
  const name = wordsOf(options)[0] ?? ''
  // The attendant starts it, so that the walls must be told which file that is.
  if (!health.healthy || options.serve.length === 0 || name.includes('/')) return health
  const found = which(name, place)
  return 'missing' in found ? health : { ...health, program: await realpath(found.file).catch(() => found.file) }
}
