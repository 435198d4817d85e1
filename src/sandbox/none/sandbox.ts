import { existsSync } from 'node:fs'
import { type Clock, sleep, systemClock } from '../../base/clock.ts'
import { freshEnvironment } from '../environment.ts'
import { nameDoor, openDoor } from '../open-door.ts'
import type { Command, Pauser, Sandbox, Walled, Walls } from '../port.ts'
import { descendantsOf } from '../process/identity.ts'
import { lowerPriority } from '../process/priority.ts'
import { findProgram, realPath } from '../process/program.ts'
import { start } from '../process/spawn.ts'
import { endKillUnit, processesOf, signal, stopper } from '../process/tree.ts'

const pausedWithinMs = 2_000

/** No walls: the agent is held together by a process group only, and reads and writes whatever the user of Pawl may. */
export function createNone(options: { readonly clock?: Clock } = {}): Sandbox {
  const clock = options.clock ?? systemClock
  return {
    name: 'none',
    probe: async () => ({
      available: true,
      enforced: false,
      detail: 'No walls: agents run with all the rights of this user, and their processes are only found again by a mark.',
    }),
    killUnit: (runId, fence) => ({ kind: 'process_group', marker: `${runId}.${fence}`, enforced: false }),
    launch: (command, walls) => launch(command, walls, clock),
  }
}

async function launch(command: Command, walls: Walls, clock: Clock): Promise<Walled> {
  const cwd = realPath(walls.workspace.source, 'workspace')
  const env = freshEnvironment(command, walls)
  const file = await findProgram(command.file, { path: env.PATH ?? '', folder: cwd })
  const door = walls.door ? await openDoor() : undefined
  const named = door ? nameDoor({ args: command.args, env }, door.url) : { args: command.args, env }
  const started = await start({ file, ...named, cwd, clock }).catch((error: unknown) => {
    door?.server.close()
    throw error
  })
  // It runs already, and may have started others with our own priority.
  for (const below of descendantsOf(started.pid)) lowerPriority(below)
  let running = true
  started.process.once('exit', () => {
    running = false
    // What is left of the group dies with its leader, as it does behind walls; later the number could belong to somebody else.
    signal(-started.pid, 'SIGKILL')
    door?.server.close()
  })
  const stop = stopper(
    {
      pid: started.pid,
      exited: started.exited,
      ask: () => void (running && signal(-started.pid, 'SIGTERM')),
      kill: () => void (running && signal(-started.pid, 'SIGKILL')),
      sweep: async () => void (existsSync('/proc/self/environ') && (await endKillUnit(walls.unit, clock))),
    },
    clock,
  )
  const { pid, stdin, stdout, stderr, exited } = started
  const pauser: Pauser = {
    async freeze() {
      const deadline = clock.monotonic() + pausedWithinMs
      for (let before = ''; clock.monotonic() < deadline; await sleep(clock, 5)) {
        if (running) signal(-started.pid, 'SIGSTOP')
        const all = await processesOf(walls.unit)
        for (const one of all) signal(one, 'SIGSTOP')
        // What was not stopped yet may have started others.
        if (all.join() === before) return true
        before = all.join()
      }
      return false
    },
    async thaw() {
      if (running) signal(-started.pid, 'SIGCONT')
      for (const one of await processesOf(walls.unit)) signal(one, 'SIGCONT')
    },
  }
  // What has left the process group looks like any other process of this user.
  return { child: { pid, stdin, stdout, stderr, exited, stop }, door, pauser, isAlone: () => false }
}
