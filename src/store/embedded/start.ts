import { spawn } from 'node:child_process'
import { chownSync, closeSync } from 'node:fs'
import { sleep, systemClock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { PawlError, unavailable } from '../../domain/error.ts'
import { type Binaries, readBinaries } from './binaries.ts'
import { assertSameMajor, prepareCluster, removeUnfinished } from './cluster.ts'
import { createDatabase, type Holder, tryConnect } from './holder.ts'
import { chooseIdentity, type Identity } from './identity.ts'
import { claimSocketDir, type Layout } from './layout.ts'
import { isReady, livingPostmaster, logTail, openLog, removeStalePidFile } from './postmaster.ts'
import { guarantees } from './settings.ts'

export interface Reached {
  readonly holder: Holder
  readonly pid: number
  readonly how: 'started' | 'adopted'
}

/** Recovery after a crash replays at most the small write-ahead log; far longer means that something is wrong. */
const reachMs = 60_000
/** How long processes that a killed server left behind may keep its memory before we stop trying. */
const leftoversMs = 15_000

/** A connection to the server of this home, whatever state it is found in. Call it under the lock. */
export async function reach(layout: Layout, log: Log, binaries = readBinaries({ libDir: layout.libDir })): Promise<Reached> {
  removeUnfinished(layout)
  assertSameMajor(layout, binaries.major)
  claimSocketDir(layout)

  const since = systemClock.monotonic()
  const elapsed = () => systemClock.monotonic() - since
  let ours: Start | undefined
  while (elapsed() < reachMs) {
    // Asking before it is ready would only fill its log with refusals.
    if (ours?.isRunning() && !isReady(layout)) {
      await sleep(systemClock, 5)
      continue
    }
    const found = await tryConnect(layout)
    if (typeof found === 'object') {
      const pid = livingPostmaster(layout)
      if (pid !== undefined) return { holder: found, pid, how: ours?.isRunning() ? 'started' : 'adopted' }
      await found.close()
      throw elsewhere(layout)
    }
    if (found === 'no_database') {
      await createDatabase(layout)
      continue
    }
    if (found === 'absent' && ours !== undefined && !ours.isRunning()) {
      const said = logTail(layout, ours.logFrom)
      if (!mayPass(said) || elapsed() > leftoversMs) throw failed(layout, 'did not start', said)
      log.debug('the embedded database could not start yet', { reason: said })
      ours = undefined
      await sleep(systemClock, 50)
    }
    if (found === 'absent' && ours === undefined && livingPostmaster(layout) === undefined) {
      ours = await start(layout, binaries, await chooseIdentity(binaries, layout.root))
    }
    await sleep(systemClock, 5)
  }
  throw failed(layout, `did not answer within ${reachMs / 1000} s`, logTail(layout, ours?.logFrom))
}

/** The server's own words when something of a killed one is still there: it goes away by itself. */
const mayPass = (said: string) => /shared memory block .* is still in use|lock file .* already exists/.test(said)

const failed = (layout: Layout, what: string, said: string) =>
  unavailable(
    `The embedded database in "${layout.dataDir}" ${what}. Its log is "${layout.logFile}" and ends with:\n${said}\n` +
      'Correct what it names (often a full disk or changed permissions) and start again, or restore a backup.',
  )

/** Sharing it would work until somebody has to stop or restart it, and nobody could judge from here whether it lives. */
const elsewhere = (layout: Layout) =>
  new PawlError(
    'conflict',
    `The embedded database in "${layout.dataDir}" is served by a process that cannot be seen from here, probably in another container. ` +
      'Stop that one first, or let both use one server with --database-url.',
  )

interface Start {
  isRunning(): boolean
  readonly logFrom: number
}

async function start(layout: Layout, binaries: Binaries, identity: Identity): Promise<Start> {
  await prepareCluster(layout, binaries, identity)
  removeStalePidFile(layout)
  chownSync(layout.socketDir, identity.uid, identity.gid)
  const log = openLog(layout)
  const [program = '', ...args] = [...identity.prefix, binaries.postgres, '-D', layout.dataDir, ...guarantees(layout)]
  try {
    // Detached is a session of its own: no terminal signal and no end of ours reaches it. No cwd or environment of ours either.
    const child = spawn(program, args, {
      detached: true,
      cwd: '/',
      env: { ...binaries.env },
      stdio: ['ignore', log.fd, log.fd],
      ...identity.spawnAs,
    })
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
    child.unref()
    return { isRunning: () => child.exitCode === null && child.signalCode === null, logFrom: log.from }
  } finally {
    closeSync(log.fd)
  }
}
