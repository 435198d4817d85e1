/**
 * A real daemon for crash tests: `daemon.ts HOME serve|worker|oneshot [KIND] [FAILPOINT as JSON]`. A one-shot runs a task of that kind.
 * Takes more failpoints over IPC, and ends when its test ends.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { adapters } from '../../src/agents/index.ts'
import { armFailpoint } from '../../src/base/failpoint.ts'
import { createLog } from '../../src/base/log.ts'
import { loadConfig } from '../../src/config/config.ts'
import { startDaemon } from '../../src/daemon/daemon.ts'
import { childrenOf, firedFile, killIfThere } from './home.ts'
import { type Kind, newTask } from './scenario.ts'

export interface Arm {
  readonly name: string
  /** `agent`: whatever this daemon has started. The database is nobody's child. */
  readonly victim: 'daemon' | 'database' | 'both' | 'agent'
  readonly skip: number
}
export type Told = { readonly ready: string } | { readonly armed: string }

const [home = '', role = 'serve', kind = '', first = ''] = process.argv.slice(2)
const tell = (told: Told) => process.send?.(told)

const kill = {
  daemon: () => {
    process.kill(process.pid, 'SIGKILL')
    return new Promise<void>(() => {})
  },
  database: () => {
    const pid = Number(readFileSync(join(home, 'postgres', 'data', 'postmaster.pid'), 'latin1').split('\n')[0])
    process.kill(pid, 'SIGKILL')
  },
  both: () => {
    kill.database()
    return kill.daemon()
  },
  agent: () => {
    for (const pid of descendantsOf(process.pid)) killIfThere(pid)
  },
}

const descendantsOf = (pid: number): number[] => childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)])

function arm({ name, victim, skip }: Arm): void {
  const act = () => {
    // A message may still be on its way out when the process is killed.
    appendFileSync(join(home, firedFile), `${name}\n`)
    return kill[victim]()
  }
  armFailpoint(name, act, { skip })
  tell({ armed: name })
}

process.on('message', arm)
if (first !== '') arm(JSON.parse(first) as Arm)

const config = await loadConfig({ cwd: home, adapters, flags: { home, port: 0 } })
const log = createLog({
  level: 'info',
  format: 'json',
  write: (line) => void process.stderr.write(`${line}\n`),
  now: () => Date.now(),
})
const daemon = await startDaemon({ config, log, http: role === 'serve', serveShared: role !== 'oneshot' })
// The channel to the test is closed by its end, however that came: nothing of ours stays then.
process.on('disconnect', () => void daemon.stop())
process.on('SIGTERM', () => void daemon.stop())
if (!process.connected) void daemon.stop()
tell({ ready: daemon.url ?? '' })
// A daemon that is killed leaves nothing of what was compiled for it, and here nearly all are.
flushCompileCache()
if (role === 'oneshot')
  await daemon.runtime.createTask(newTask({ kind: kind as Kind, tag: 'oneshot' }), { by: 'test', idempotencyKey: 'oneshot' })
await daemon.stopped
if (process.connected) process.disconnect()
