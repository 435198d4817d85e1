import { readFileSync } from 'node:fs'
import { childrenOf, descendantsOf } from '../src/sandbox/process/identity.ts'
import { startDaemon } from './daemon.ts'
import { type Benchmark, inParallel } from './figure.ts'
import { inPlace } from './place.ts'
import { startRealAgents } from './real-agents.ts'

const perProgram = 10
const mostMb = 3

export const benchmark: Benchmark = {
  about: `${perProgram} of each real program, alive and waiting: what the daemon, and what else of ours, needs for each of them`,
  measure: ({ say }) =>
    inPlace(async (place) => {
      const real = await startRealAgents(place, 'text')
      const count = perProgram * real.programs.length
      const settings = { agents: real.agents, limits: { running: count, warm: count } }
      const daemon = await startDaemon(place, { settings, isWeighed: true })
      const { workspace } = real
      const haveTurn = async (agent: string) => {
        const task = await daemon.createTask({ agent, workspace })
        await daemon.follow(task.id, () => {})
        const { state } = await daemon.getTask(task.id)
        if (state !== 'completed') throw new Error(`A turn of ${agent} did not succeed; see task ${task.id}.`)
      }
      const waiting = async (wanted: number) => {
        for (;;) {
          const { warm } = await daemon.health()
          if (warm.length === wanted) return warm
          await new Promise((again) => setTimeout(again, 50))
        }
      }
      const endWaiting = async () => {
        for (const { pid } of (await daemon.health()).warm) process.kill(pid)
        await waiting(0)
      }
      // What is loaded when it is first needed is no agent's own.
      for (const { agent } of real.programs) await haveTurn(agent)
      await endWaiting()
      const idle = await daemon.memory()

      await inParallel(count, 2, (n) => haveTurn(real.programs[n % real.programs.length]!.agent))
      const live = await waiting(count)
      const held = await daemon.memory()
      const walls = live.map(({ pid }) => [pid, ...childrenOf(pid)])
      const ofWalls = sum(walls.flat().map(ownBytes))
      const ofPrograms = sum(
        live.flatMap(({ pid }, at) => descendantsOf(pid).filter((one) => !walls[at]!.includes(one))).map(ownBytes),
      )
      await endWaiting()
      const after = await daemon.memory()

      const each = (bytes: number) => bytes / 1e6 / count
      const used = (usage: NodeJS.MemoryUsage) => usage.heapUsed + usage.external
      say(`RSS of the daemon ${mb(idle.rss)} idle, ${mb(held.rss)} with ${count} agents, ${mb(after.rss)} when they are gone`)
      say(`what its heap holds ${mb(used(idle))} idle, ${mb(used(held))} with them, ${mb(used(after))} when they are gone`)
      const peer = `${each(ofPrograms).toFixed(0)} MB program`
      const row = (name: string, megabytes: number) => ({
        name,
        ours: `${megabytes.toFixed(2)} MB`,
        peer,
        ratio: megabytes / each(ofPrograms),
        target: `≤ ${mostMb} MB`,
        isMet: megabytes <= mostMb,
      })
      return [
        row('daemon per live agent', each(held.rss - idle.rss)),
        row('daemon and walls per live agent', each(held.rss - idle.rss + ofWalls)),
      ]
    }),
}

const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** What would be free again if only this process ended: pages that it shares with others count for nobody. */
function ownBytes(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const parts = [...rollup.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB/gm)]
  return sum(parts.map((part) => Number(part[1]) * 1024))
}
