import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { startDaemon, usageOf } from './daemon.ts'
import { type Benchmark, mib } from './figure.ts'
import { inPlace } from './place.ts'

const seconds = 20
/** Longer than a daemon waits before it gives memory back (src/daemon/rest.ts). */
const settledMs = 75_000

export const benchmark: Benchmark = {
  about: `a daemon that has worked and now waits for ${seconds} s, against a Node that does nothing`,
  measure: ({ profileDir, say }) =>
    inPlace(async (place) => {
      const daemon = await startDaemon(place, { settings: { agents: { echo: { command: ['/bin/echo', 'done'] } } }, profileDir })
      for (let i = 0; i < 10; i++) await daemon.createTask({ agent: 'echo' })
      await daemon.completed('echo', 10)
      const idler = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1e9)'], { stdio: 'ignore' })
      place.onEnd(() => idler.kill('SIGKILL'))
      await pause(settledMs)
      const database = databaseProcesses(daemon.home)
      const before = { ours: usageOf(daemon.pid).cpuMs, database: cpuOf(database) }
      await pause(seconds * 1_000)
      const ours = usageOf(daemon.pid)
      const percent = (spentMs: number) => (spentMs / (seconds * 1_000)) * 100
      const cpu = percent(ours.cpuMs - before.ours)
      say(`the database uses ${percent(cpuOf(database) - before.database).toFixed(1)} % of CPU meanwhile`)
      const peer = usageOf(idler.pid!)
      return [
        { name: 'idle CPU', ours: `${cpu.toFixed(2)} %`, peer: '', target: '≤ 1 %', isMet: cpu <= 1 },
        {
          name: 'idle RSS',
          ours: mib(ours.rssBytes),
          peer: `${mib(peer.rssBytes)} bare node`,
          ratio: ours.rssBytes / peer.rssBytes,
          target: '≤ 120 MB',
          isMet: ours.rssBytes <= 120e6,
        },
      ]
    }),
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms))

function databaseProcesses(home: string): number[] {
  const postmaster = Number(readFileSync(`${home}/postgres/data/postmaster.pid`, 'utf8').split('\n')[0])
  const parentOf = (pid: string) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    } catch {
      // It has ended since the folder was read.
      return 0
    }
  }
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === postmaster)
  return [postmaster, ...children.map(Number)]
}

function cpuOf(pids: readonly number[]): number {
  let sum = 0
  for (const pid of pids) {
    try {
      sum += usageOf(pid).cpuMs
    } catch (error) {
      // A connection that was closed meanwhile has used nothing since.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return sum
}
