/**
 * A real daemon for crash tests: `daemon.ts HOME serve|worker|oneshot [KIND] [FAILPOINT as JSON]`. A one-shot runs a task of that kind.
 * Takes more failpoints over IPC, and ends when its test ends.
 */
import { spawn } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { adapters } from '../../src/agents/index.ts'
import { armFailpoint } from '../../src/base/failpoint.ts'
import { createLog } from '../../src/base/log.ts'
import { loadConfig } from '../../src/config/config.ts'
import { startDaemon } from '../../src/daemon/daemon.ts'
import { childrenOf, firedFile, killIfThere, troubleFile } from './home.ts'
import { type Kind, newTask } from './scenario.ts'

export interface Arm {
  readonly name: string
  /**
   * `agent`: whatever this daemon has started. The database is nobody's child. Nobody is killed by the last three: the database stands still, its connections bring nothing any
   * more, or this daemon gets a fifth of a processor.
   */
  readonly victim: 'daemon' | 'database' | 'both' | 'agent' | 'stall' | 'silence' | 'slow'
  readonly skip: number
  /** How long the database stands still, or the daemon is slow. */
  readonly seconds?: number | undefined
}
export type Told = { readonly ready: string } | { readonly armed: string } | { readonly silence: true }
/** The answer of the test, which holds the connections. */
export interface Silenced {
  readonly isSilent: true
}

const [home = '', role = 'serve', kind = '', first = ''] = process.argv.slice(2)
const tell = (told: Told) => process.send?.(told)

let silenced: PromiseWithResolvers<void> | undefined

const act = {
  daemon: () => {
    process.kill(process.pid, 'SIGKILL')
    return new Promise<void>(() => {})
  },
  database: () => {
    const pid = Number(readFileSync(join(home, 'postgres', 'data', 'postmaster.pid'), 'latin1').split('\n')[0])
    process.kill(pid, 'SIGKILL')
  },
  both: () => {
    act.database()
    return act.daemon()
  },
  agent: () => {
    for (const pid of descendantsOf(process.pid)) killIfThere(pid)
  },
  stall: (seconds: number) => {
    const postmaster = Number(readFileSync(join(home, 'postgres', 'data', 'postmaster.pid'), 'latin1').split('\n')[0])
    const all = [postmaster, ...childrenOf(postmaster)]
    // Another process wakes them, also if this one dies meanwhile.
    trouble(`sleep ${seconds}; kill -CONT ${all.join(' ')}`)
    for (const pid of all) process.kill(pid, 'SIGSTOP')
  },
  silence: () => {
    silenced = Promise.withResolvers()
    tell({ silence: true })
    return silenced.promise
  },
  slow: (seconds: number) => {
    const { pid } = process
    trouble(
      `n=0; while [ $n -lt ${seconds * 4} ]; do kill -STOP ${pid}; sleep 0.2; kill -CONT ${pid}; sleep 0.05; n=$((n + 1)); done`,
    )
    // What else runs on the machine gets in the way as well.
    if (seconds > 5)
      for (const _ of cpus()) trouble(`end=$(($(date +%s) + ${seconds})); while [ $(date +%s) -lt $end ]; do :; done`)
  },
}

let troubles = 0
/** It ends by itself, whatever becomes of us; the test waits until its file is gone. */
function trouble(script: string): void {
  const file = join(home, `${troubleFile}-${++troubles}`)
  writeFileSync(file, '')
  spawn('sh', ['-c', `${script}; rm -f '${file}'`], { detached: true, stdio: 'ignore' })
}

const descendantsOf = (pid: number): number[] => childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)])

function arm({ name, victim, skip, seconds = 0 }: Arm): void {
  const action = () => {
    // A message may still be on its way out when the process is killed.
    appendFileSync(join(home, firedFile), `${name}\n`)
    return act[victim](seconds)
  }
  armFailpoint(name, action, { skip })
  tell({ armed: name })
}

process.on('message', (told: Arm | Silenced) => {
  if ('isSilent' in told) silenced?.resolve()
  else arm(told)
})
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
