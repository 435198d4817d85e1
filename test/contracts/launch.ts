import { randomUUID } from 'node:crypto'
import { writeHomeFiles } from '../../src/sandbox/files/home-files.ts'
import type { Command } from '../../src/sandbox/port.ts'
import type { Child } from '../../src/sandbox/process/child.ts'
import { start } from '../../src/sandbox/process/spawn.ts'
import { endKillUnit, killUnitVariable, signal, stopper } from '../../src/sandbox/process/tree.ts'

export interface Place {
  readonly workspace: string
  readonly home: string
}

/** Starts a command as real as can be, without walls. Whoever calls it owes `child.stop`. */
export async function launch(command: Command, place: Place, env: Record<string, string> = {}): Promise<Child> {
  await writeHomeFiles(place.home, command, { user: undefined })
  const unit = { kind: 'process_group', marker: randomUUID(), enforced: false } as const
  const path = process.env.PATH ?? ''
  const whole = { PATH: path, HOME: place.home, [killUnitVariable]: unit.marker, ...command.env, ...env }
  const started = await start({ file: command.file, args: command.args, env: whole, cwd: place.workspace })
  const stop = stopper({
    pid: started.pid,
    exited: started.exited,
    ask: () => void signal(-started.pid, 'SIGTERM'),
    kill: () => void signal(-started.pid, 'SIGKILL'),
    sweep: async () => void (await endKillUnit(unit)),
  })
  return { ...started, stop }
}
