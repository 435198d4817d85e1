import { Agent } from 'node:http'
import { startDaemon, usageOf } from './daemon.ts'
import { type Benchmark, type Figure, inParallel, interleave, median, perSecond, rate, timed } from './figure.ts'
import { inPlace } from './place.ts'

/** Rounds × tasks is what is queued in all: 10,000 by sixteen clients, 1,000 by one. */
const loads = [
  { connections: 16, rounds: 5, tasks: 2_000 },
  { connections: 1, rounds: 5, tasks: 200 },
]

export const benchmark: Benchmark = {
  about: 'tasks queued one by one over HTTP, each durable when it is answered, against bare inserts into the same database',
  measure: ({ profileDir, say }) =>
    inPlace(async (place) => {
      const settings = { agents: { hold: { command: ['sleep', '100000'], timeout: 0, idleTimeout: 0 } }, limits: { running: 1 } }
      const daemon = await startDaemon(place, { settings, profileDir })
      // The only slot is taken, so the daemon does nothing but take tasks in and see that none may run.
      await daemon.createTask({ agent: 'hold' })
      const setup = await daemon.pool(1)
      await setup.query('create schema bench')
      await setup.query('create table bench.inserted (id text primary key, body jsonb not null, at timestamptz not null)')

      const figures: Figure[] = []
      for (const { connections, rounds, tasks } of loads) {
        const via = new Agent({ keepAlive: true, maxSockets: connections })
        const pool = await daemon.pool(connections)
        const task = { agent: 'hold', prompt: 'Look at the failing test and repair it.' }
        const body = JSON.stringify(task)
        let cpuMs = 0
        const sides = await interleave(
          rounds,
          async () => {
            const before = usageOf(daemon.pid).cpuMs
            const spent = await timed(() => inParallel(tasks, connections, () => daemon.createTask(task, via)))
            cpuMs += usageOf(daemon.pid).cpuMs - before
            return perSecond(tasks, spent)
          },
          async () =>
            perSecond(
              tasks,
              await timed(() =>
                inParallel(tasks, connections, () =>
                  pool.query('insert into bench.inserted values ($1, $2, $3)', [crypto.randomUUID(), body, new Date()]),
                ),
              ),
            ),
        )
        via.destroy()
        say(`${connections} connections: ${(cpuMs / rounds / tasks).toFixed(2)} ms of CPU per task in the daemon`)
        const ours = median(sides.ours)
        const peer = median(sides.peer)
        figures.push({
          name: `queued, ${connections} connection${connections > 1 ? 's' : ''}`,
          ours: rate(ours),
          peer: `${rate(peer)} inserts`,
          ratio: ours / peer,
          target: '≥ 500/s',
          isMet: ours >= 500,
        })
      }
      const { rows } = await setup.query<{ n: number }>('select count(*)::int as n from pawl.tasks')
      const expected = 1 + loads.reduce((sum, { rounds, tasks }) => sum + rounds * tasks, 0)
      if (rows[0]!.n !== expected) throw new Error(`${rows[0]!.n} tasks are stored, ${expected} were acknowledged.`)
      return figures
    }),
}
