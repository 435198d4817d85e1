import { closeSync, openSync, readlinkSync, realpathSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import type { Clock } from '../../base/clock.ts'
import { hostPath } from '../../domain/base/path.ts'
import { messageOf, PawlError } from '../../domain/error.ts'
import type { OpenDoor } from '../open-door.ts'
import { childrenOf } from '../process/identity.ts'
import { systemPath } from '../process/program.ts'
import { start } from '../process/spawn.ts'
import { dropTo, findOnce, noDrop } from './drop.ts'
import type { Identity } from './identity.ts'
import { initSource } from './init.ts'
import { listener, urlOf } from './inside.ts'
import { withTable } from './mount-table.ts'

/** A door that stands open in a network of its own, where nobody lives yet. */
export interface SpareDoor extends OpenDoor {
  /** The program that leads into it, and the descriptors that it needs: of the network, and of the user namespace whose network it is. */
  readonly nsenter: string
  readonly user: number
  readonly network: number
  /** Does a process live in that network? */
  isAround(pid: number): boolean
  /** Who lives there keeps the network; nobody else gets in any more. May be called twice. */
  shut(): void
}

export const isSpare = (door: OpenDoor | undefined): door is SpareDoor => door !== undefined && 'nsenter' in door

/**
 * To open a door inside takes a whole start of Node, longer than all the other walls. So one stands ready for whoever starts next. Where there is none, because several start
 * at once or nobody asked for it, doors are opened inside.
 */
export interface SpareDoors {
  /** Opens one, and from here on another whenever one was taken. Rejects if none can be opened here. */
  start(user: Identity): Promise<void>
  take(user: Identity): SpareDoor | undefined
  stop(): void
}

/** After the last start, so that it takes nothing from a program that starts. */
const restMs = 1_000
const openWithinMs = 15_000

export interface SpareTools {
  readonly bwrap: string
  readonly searchPath: string
  readonly clock: Clock
}

export function createSpareDoors(tools: () => Promise<SpareTools>, clock: Clock): SpareDoors {
  let kept: Identity | undefined
  let spare: SpareDoor | undefined
  let cancel = () => {}

  async function openFor(user: Identity): Promise<void> {
    const opened = await openAhead(user, await tools())
    if (kept === user && !spare) spare = opened
    else leave(opened)
  }
  return {
    async start(user) {
      kept = user
      if (!spare) await openFor(user)
    },
    take(user) {
      if (!kept) return undefined
      const by = kept
      cancel()
      // If it cannot be opened now, the next start tries again.
      cancel = clock.after(restMs, () => void (spare ?? openFor(by).catch(() => undefined)))
      if (by.uid !== user.uid || by.gid !== user.gid || !spare) return undefined
      const taken = spare
      spare = undefined
      taken.server.ref()
      return taken
    },
    stop() {
      kept = undefined
      cancel()
      if (spare) leave(spare)
      spare = undefined
    },
  }
}

function leave(spare: SpareDoor): void {
  spare.shut()
  spare.server.close()
}

/**
 * Our own program alone lives there, until the listener is out. Its user namespace is the one that the network belongs to, which is why nothing is asked of
 * bubblewrap that needs a second one.
 */
async function openAhead(user: Identity, { bwrap, searchPath, clock }: SpareTools): Promise<SpareDoor> {
  const node = hostPath(realpathSync(process.execPath))
  const nsenter = await findOnce('nsenter', searchPath)
  const drop = process.getuid?.() === 0 ? await dropTo(user, [node], searchPath) : noDrop
  const walls = ['--unshare-user', '--unshare-net', '--cap-drop', 'ALL', '--die-with-parent', '--new-session']
  const init = [drop.sourceOf(node), '--no-warnings', '--eval', initSource, '--', 'door']
  const words = [...drop.words, bwrap, ...walls, '--ro-bind', '/', '/', '--', ...init]
  return withTable(drop.table, () => openBy(words, nsenter, clock))
}

async function openBy([file, ...args]: readonly string[], nsenter: string, clock: Clock): Promise<SpareDoor> {
  const env = { PATH: systemPath, LANG: 'C.UTF-8' }
  const started = await start({ file: file as string, args, env, cwd: '/', extra: ['ipc'], clock })
  started.stdin.destroy()
  started.stdout.destroy()
  const late = Promise.withResolvers<never>()
  const cancel = clock.after(openWithinMs, () => late.reject(new Error(`it was not open within ${openWithinMs / 1000} s.`)))
  const opened: number[] = []
  const descriptor = (path: string) => {
    const fd = openSync(path, 'r')
    opened.push(fd)
    return fd
  }
  const shut = () => {
    for (const fd of opened.splice(0)) closeSync(fd)
  }
  try {
    const { server } = await Promise.race([listener(started), late.promise])
    if (!server) throw new Error('no listener came out.')
    server.unref()
    const [first] = childrenOf(started.pid)
    if (first === undefined) throw new Error('its program has ended.')
    const user = descriptor(`/proc/${first}/ns/user`)
    const network = descriptor(`/proc/${first}/ns/net`)
    const name = readlinkSync(`/proc/self/fd/${network}`)
    if (name === readlinkSync('/proc/self/ns/net')) throw new Error('it has no network of its own.')
    const isAround = (pid: number) => readlinkSync(`/proc/${pid}/ns/net`) === name
    return { server, url: urlOf(server), nsenter, user, network, isAround, shut }
  } catch (error) {
    shut()
    started.process.kill('SIGKILL')
    const said = (await text(started.stderr)).trim().slice(0, 2000)
    throw new PawlError('unavailable', `A door could not be opened ahead: ${said === '' ? messageOf(error) : said}`, {
      cause: error,
    })
  } finally {
    cancel()
    started.process.kill('SIGKILL')
    started.stderr.destroy()
  }
}
