import { messageOf } from '../../domain/error.ts'
import { which } from '../../sandbox/process/which.ts'
import type { AgentHealth, ProbePlace } from '../port.ts'

/** Has `look` tell of the program that a command stands for. What goes wrong before or in it is told as well, and nothing is thrown. */
export async function probeFound(
  command: string,
  place: ProbePlace,
  install: string,
  look: (file: string) => Promise<AgentHealth>,
): Promise<AgentHealth> {
  try {
    if (command.includes('/') && !command.startsWith('/') && place.folder === undefined)
      return { installed: true, healthy: true, detail: `${command} is looked up in the workspace of each task` }
    const found = which(command, place)
    if (!('missing' in found)) return await look(found.file)
    if (found.missing === 'not_executable')
      return lacking(`${found.looked} is there but cannot be executed.`, `Make it executable: chmod +x ${found.looked}`)
    const where = command.includes('/')
      ? `${found.looked} does not exist.`
      : `${command} is not on the search path ${found.looked}.`
    return lacking(where, install)
  } catch (thrown) {
    return lacking(`${command} could not be checked: ${messageOf(thrown)}.`, install)
  }
}

const lacking = (detail: string, fix: string): AgentHealth => ({ installed: false, healthy: false, detail, fix })
