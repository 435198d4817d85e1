import type { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type Clock, sleep } from '../../base/clock.ts'
import { messageOf, PawlError } from '../../domain/error.ts'
import { type OpenDoor, openDoor } from '../open-door.ts'
import type { Command } from '../port.ts'
import { LaunchInterrupted, type Walled, type Walls } from '../port.ts'
import { childrenOf, descendantsOf, isAlive, isWaiting, type ProcessIdentity, processIdentity } from '../process/identity.ts'
import { lowerPriority } from '../process/priority.ts'
import { systemPath } from '../process/program.ts'
import { type Started, start } from '../process/spawn.ts'
import { endKillUnit, killUnitVariable, signal, stopper } from '../process/tree.ts'
import { type CommandLine, commandLine, type LaunchTools } from './command-line.ts'
import { createFreezer } from './freezer.ts'
import { type Guard, guardLimits } from './guard.ts'
import { agentIdentity } from './identity.ts'
import { fds } from './init.ts'
import { endedEarly, greeting, listener, stdio, urlOf } from './inside.ts'
import { withTable } from './mount-table.ts'
import { assertMounted } from './mounted.ts'
import { assertSamePlaces } from './same-places.ts'
import { isSpare } from './spare-doors.ts'

/** Generous: two hundred launches at once on two cores take several seconds each. */
const readyWithinMs = 15_000
const goneWithinMs = 2000

export async function launch(command: Command, walls: Walls, tools: LaunchTools): Promise<Walled> {
  const door = walls.door ? await openedBefore(walls, tools) : undefined
  try {
    return await launchWith(door, command, walls, tools)
  } catch (error) {
    door?.server.close()
    throw error
  } finally {
    if (isSpare(door)) door.shut()
  }
}

/** With the machine's own loopback inside, or where a door stands ready, there is no need to wait for somebody in there to open it. */
async function openedBefore(walls: Walls, { doors }: LaunchTools): Promise<OpenDoor | undefined> {
  return walls.network === 'host' ? openDoor() : doors.take(agentIdentity(walls))
}

async function launchWith(opened: OpenDoor | undefined, command: Command, walls: Walls, tools: LaunchTools): Promise<Walled> {
  const line = await commandLine(command, walls, { ...tools, door: opened })
  return withTable(line.table, () => build(line, opened, command, walls, tools))
}

async function build(
  { file, args, options, seccomp, rooms, expected }: CommandLine,
  opened: OpenDoor | undefined,
  command: Command,
  walls: Walls,
  tools: LaunchTools,
): Promise<Walled> {
  const { clock } = tools
  const opensInside = walls.door && !opened
  const spare = isSpare(opened) ? opened : undefined
  const extra = [opensInside ? 'ipc' : 'pipe', 'pipe', 'pipe', ...(spare ? [spare.user, spare.network] : [])] as const
  // Bubblewrap's own first process keeps the environment it was started with, readable inside; so that holds nothing but the mark.
  const env = { PATH: systemPath, LANG: 'C.UTF-8', [killUnitVariable]: walls.unit.marker }
  const started = await start({ file, args, env, cwd: '/', extra, clock })

  let inner: ProcessIdentity | undefined
  let guard: Guard | undefined
  let freezer: ReturnType<typeof createFreezer> | undefined
  let running = true
  started.process.once('exit', () => {
    running = false
    guard?.ended()
  })
  const stop = stopper(
    {
      pid: started.pid,
      exited: started.exited,
      // Bubblewrap passes no signals on. Its inner process leads the group and session in which the agent starts, and as the first of
      // a pid namespace is itself deaf to SIGTERM, so this reaches the agent and what it started.
      ask: () => void (running && inner && signal(-inner.pid, 'SIGTERM')),
      kill: () => void started.process.kill('SIGKILL'),
      sweep: async () => {
        await sweep(inner, walls, clock)
        freezer?.close()
        guard?.close()
      },
    },
    clock,
  )
  const late = Promise.withResolvers<never>()
  const cancel = clock.after(readyWithinMs, () =>
    late.reject(new Late(`nothing was heard from inside within ${readyWithinMs / 1000} s.`)),
  )
  try {
    send(started, fds.args, options.map((option) => `${option}\0`).join(''))
    send(started, fds.seccomp, seccomp)
    const inside = await Promise.race([opensInside ? listener(started) : greeting(started), late.promise])
    inner = await Promise.race([firstInside(started, clock), late.promise])
    // It leads a session of its own, to which the priority of bubblewrap's says nothing.
    lowerPriority(inner.pid)
    assertSamePlaces(inner.pid, walls)
    assertMounted(inner.pid, expected)
    if (spare?.isAround(inner.pid) === false) throw new Error('it is not in the network of its door.')
    const { pid, stdin, stdout, stderr, exited } = started
    const child = { pid, stdin, stdout, stderr, exited, stop }
    const door = opened ?? (inside.server && { server: inside.server, url: urlOf(inside.server) })
    started.process.once('exit', () => door?.server.close())
    guard = guardLimits({
      ...{
        pid,
        first: inner.pid,
        rooms,
        name: walls.unit.marker,
        limits: walls.limits,
        group: tools.group,
        memory: tools.memory,
      },
      kill: () => void started.process.kill('SIGKILL'),
    })
    if (!running) guard.ended()
    freezer = createFreezer({ first: inner, group: tools.freezable, name: walls.unit.marker, clock })
    const { held, onLimit } = guard
    // From here on the agent starts; nothing is awaited any more, so whoever launched it can serve the door before it knocks.
    inside.go()
    const first = inner
    // Below the first process of the walls there is the agent, and nobody else if it left nothing behind. What loses its parent while we look moves to where we have looked already: a second look finds it.
    const holdsOne = () => descendantsOf(first.pid).length <= 1
    return { child, door, held, onLimit, freezer, isAlone: () => isAlive(first) === true && holdsOne() && holdsOne() }
  } catch (error) {
    const isInterrupted = error instanceof Late || (await wasKilled(started, clock))
    await stop({ graceMs: 0 })
    const said = (await text(started.stderr)).trim().slice(0, 2000)
    started.stdout.destroy()
    const reason = said === '' ? messageOf(error) : said
    const message = `The sandbox for "${command.file}" could not be built: ${reason}`
    throw isInterrupted ? new LaunchInterrupted(message, error) : new PawlError('unavailable', message, { cause: error })
  } finally {
    cancel()
  }
}

/** The machine had no time for it. */
class Late extends Error {}

/** Where its outer process is killed it ends by that signal; where its inner one is, it ends with 128 and the signal's number. */
async function wasKilled({ exited }: Started, clock: Clock): Promise<boolean> {
  const exit = await Promise.race([exited, sleep(clock, 100)])
  return exit !== undefined && (exit.signal !== null || (exit.code ?? 0) > 128)
}

/** By descriptor, because an environment may hold what an argument list must not show. */
function send(started: Started, fd: number, content: string | Buffer): void {
  const pipe = stdio(started)[fd] as Writable
  // It breaks only if bubblewrap has ended, and that is seen elsewhere.
  pipe.on('error', () => pipe.destroy())
  pipe.end(content)
}

/**
 * Bubblewrap's only child, once it dies with its parent: it arranges that last, beside the first program inside, and then it waits.
 * Bubblewrap would name it over a descriptor, but if we are dead by then it breaks off and leaves that child waiting for ever (0.8.0).
 */
async function firstInside(started: Started, clock: Clock): Promise<ProcessIdentity> {
  for (;;) {
    const child = childrenOf(started.pid)[0]
    if (child === undefined) throw endedEarly(await started.exited)
    if (isWaiting(child)) return processIdentity(child)
    await sleep(clock, 1)
  }
}

/** The kernel kills a whole pid namespace before its first process is gone, so that one is proof for all. */
async function sweep(inner: ProcessIdentity | undefined, walls: Walls, clock: Clock): Promise<void> {
  const deadline = clock.monotonic() + goneWithinMs
  while (inner && isAlive(inner)) {
    if (clock.monotonic() > deadline) break
    await sleep(clock, 2)
  }
  if (!inner || isAlive(inner)) await endKillUnit(walls.unit, clock)
}
