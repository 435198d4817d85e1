import { readdirSync, readFileSync } from 'node:fs'
import { type Clock, sleep, systemClock } from '../../base/clock.ts'
import { PawlError } from '../../domain/error.ts'
import type { Child, Exit, KillUnit } from './child.ts'

/** Stands in the environment of every process of a unit. */
export const killUnitVariable = 'PAWL_KILL_UNIT'

const killedWithinMs = 5000
const sweepMs = 2000

export interface Tree {
  readonly pid: number
  readonly exited: Promise<Exit>
  /** Asks the tree to end. */
  ask(): void
  /** Kills the outermost process; must not need anything from inside. */
  kill(): void
  /** Called after the exit: resolves when nothing of the tree lives. */
  sweep(): Promise<void>
}

/** `Child.stop` for a tree: ask, wait, kill from outside. What lives inside can hang its own walls, so the kill never waits for them. */
export function stopper(tree: Tree, clock: Clock = systemClock): Child['stop'] {
  let exit: Exit | undefined
  let killAt = Number.POSITIVE_INFINITY
  let cancelKill = () => {}
  let ending: Promise<Exit> | undefined
  const undead = Promise.withResolvers<never>()
  undead.promise.catch(() => {})
  void tree.exited.then((value) => {
    exit = value
    cancelKill()
  })

  function kill(): void {
    killAt = Number.NEGATIVE_INFINITY
    tree.kill()
    cancelKill = clock.after(killedWithinMs, () =>
      undead.reject(
        new PawlError('internal', `Process ${tree.pid} still exists ${killedWithinMs / 1000} s after it was killed.`),
      ),
    )
  }
  async function end(): Promise<Exit> {
    const ended = await Promise.race([tree.exited, undead.promise])
    await tree.sweep()
    return ended
  }

  return ({ graceMs }) => {
    const at = clock.monotonic() + graceMs
    if (!exit && at < killAt) {
      cancelKill()
      if (graceMs > 0) {
        if (killAt === Number.POSITIVE_INFINITY) tree.ask()
        killAt = at
        cancelKill = clock.after(graceMs, kill)
      } else {
        kill()
      }
    }
    ending ??= end()
    return ending
  }
}

/**
 * Kills every process that carries the unit's marker and returns how many there were: what a dead worker left, or what slipped out of
 * a process group. Finds nothing where there is no /proc, and no process that cleared its environment.
 */
export async function endKillUnit(unit: KillUnit, clock: Clock = systemClock): Promise<number> {
  const killed = new Set<number>()
  const deadline = clock.monotonic() + sweepMs
  for (;;) {
    const alive = await processesOf(unit)
    if (alive.length === 0) return killed.size
    for (const pid of alive) {
      killed.add(pid)
      signal(pid, 'SIGKILL')
    }
    if (clock.monotonic() > deadline) {
      throw new PawlError('internal', `Processes ${alive.join(', ')} of run unit ${unit.marker} do not die; end them by hand.`)
    }
    await sleep(clock, 5)
  }
}

/** The living processes that carry the unit's marker, as far as we may look. */
export async function processesOf(unit: KillUnit): Promise<number[]> {
  const entry = `${killUnitVariable}=${unit.marker}`
  const pids = processIds()
  const found: number[] = []
  for (const [index, pid] of pids.entries()) {
    // These files are never slow, and reading them one by one in the thread pool is: so in short blocking turns.
    if (index % 100 === 99) await new Promise(setImmediate)
    if (pid !== process.pid && environment(pid).includes(entry)) found.push(pid)
  }
  return found
}

function processIds(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Empty for a process that is gone, that is a zombie, or that belongs to somebody else. */
function environment(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}

/** Sends a signal to a process, or with a negative number to a process group. False: there was nobody to receive it. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    // EPERM: macOS answers so for a group that consists of zombies.
    if (code === 'ESRCH' || code === 'EPERM') return false
    throw error
  }
}
