import { statSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from 'pg'
import { sleep, systemClock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { messageOf } from '../../domain/error.ts'
import { clusterVersion } from './cluster.ts'
import { type Connection, connectionTo, countOthers, type Holder, tryConnect } from './holder.ts'
import { createLayout, dropSocketDir, type Layout, layoutOf } from './layout.ts'
import { isCode, withLock } from './lock.ts'
import { livingPostmaster, stopPostmaster } from './postmaster.ts'
import { reach } from './start.ts'

/** Our part in the bundled server of one home. */
export interface EmbeddedServer {
  readonly connection: Connection
  readonly pid: number
  readonly how: 'started' | 'adopted'
  /** Resolves when the server has gone away under us. The cure is to call `openEmbedded` again; `release` stays harmless. */
  readonly lost: Promise<void>
  /** Leaves; the last one to leave stops the server. Close your own pool first. Never rejects; calling it twice is fine. */
  release(): Promise<void>
}

/**
 * Joins the server of this home, starting it (and creating its database) if need be.
 * Until `release` a small connection of its own shows every other process that somebody is still here. It does not keep
 * the process alive.
 */
export async function openEmbedded(options: { home: string; log: Log }): Promise<EmbeddedServer> {
  const layout = createLayout(options.home)
  const { holder, pid, how } = await withLock(layout.lockDir, () => reach(layout, options.log))
  options.log.debug(how === 'started' ? 'started the embedded database' : 'joined the embedded database', { pid })
  let released: Promise<void> | undefined
  return {
    connection: connectionTo(layout),
    pid,
    how,
    lost: holder.lost,
    release() {
      released ??= leave(layout, holder, options.log).catch((error: unknown) => {
        options.log.warn('the embedded database was left running', { reason: messageOf(error) })
      })
      return released
    },
  }
}

/** Stops the server whoever is connected; work in flight is rolled back, nothing committed is lost. */
export async function stopEmbedded(home: string): Promise<'stopped' | 'not_running'> {
  const layout = existingLayout(home)
  if (layout === undefined) return 'not_running'
  return withLock(layout.lockDir, async () => {
    const pid = livingPostmaster(layout)
    if (pid === undefined) return 'not_running'
    await stop(layout, pid)
    return 'stopped'
  })
}

export interface EmbeddedStatus {
  readonly running: boolean
  readonly pid?: number
  readonly dataDir: string
  /** The major version of PostgreSQL that wrote the data directory. */
  readonly version?: string
  readonly sizeBytes: number
}

/** Looks only: creates nothing and waits for nobody. */
export async function embeddedStatus(home: string): Promise<EmbeddedStatus> {
  const layout = existingLayout(home)
  if (layout === undefined) return { running: false, dataDir: join(home, 'postgres', 'data'), sizeBytes: 0 }
  const pid = livingPostmaster(layout)
  const version = clusterVersion(layout)
  return {
    running: pid !== undefined,
    ...(pid === undefined ? {} : { pid }),
    dataDir: layout.dataDir,
    ...(version === undefined ? {} : { version }),
    sizeBytes: await sizeOfTree(layout.dataDir),
  }
}

/** Connections that were just closed are still listed for a moment. */
const lingerMs = 500

async function leave(layout: Layout, holder: Holder, log: Log): Promise<void> {
  holder.ref()
  try {
    await withLock(layout.lockDir, async () => {
      // Ours may have been cut by a crash that the server itself survived; then nobody else may be there to stop it.
      const ours = holder.isLost() ? await tryConnect(layout) : holder
      if (typeof ours === 'string') return
      const alone = await waitUntilAlone(ours.client)
      await ours.close()
      const pid = livingPostmaster(layout)
      if (!alone || pid === undefined) return
      await stop(layout, pid)
      log.debug('stopped the embedded database', { pid })
    })
  } finally {
    await holder.close()
  }
}

async function stop(layout: Layout, pid: number): Promise<void> {
  await stopPostmaster(layout, pid)
  dropSocketDir(layout)
}

async function waitUntilAlone(client: Client): Promise<boolean> {
  const deadline = systemClock.monotonic() + lingerMs
  for (;;) {
    const { holders, others } = await countOthers(client)
    if (holders + others === 0) return true
    if (holders > 0 || systemClock.monotonic() > deadline) return false
    await sleep(systemClock, 20)
  }
}

function existingLayout(home: string): Layout | undefined {
  if (statSync(join(home, 'postgres', 'lock'), { throwIfNoEntry: false }) === undefined) return undefined
  return layoutOf(home)
}

async function sizeOfTree(dir: string): Promise<number> {
  let total = 0
  for (const entry of await unlessGone(readdir(dir, { withFileTypes: true, recursive: true }), [])) {
    if (entry.isFile()) total += (await unlessGone(stat(join(entry.parentPath, entry.name)), { size: 0 })).size
  }
  return total
}

/** A living server removes files while we look. */
async function unlessGone<T, E>(promise: Promise<T>, otherwise: E): Promise<T | E> {
  try {
    return await promise
  } catch (error) {
    if (isCode(error, 'ENOENT')) return otherwise
    throw error
  }
}
