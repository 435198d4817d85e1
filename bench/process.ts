import { startDaemon, usageOf } from './daemon.ts'
import { type Benchmark, type Figure, inParallel, interleave, median, perSecond, rate, timed } from './figure.ts'
import { inPlace } from './place.ts'
import { createWalledSpawn } from './walled.ts'

const rounds = 5
const perRound = 24
const widths = [1, 4]

export const benchmark: Benchmark = {
  about: 'runs of a trivial program in its namespace, against spawning it in the same walls in a loop',
  async measure({ profileDir, say }) {
    const figures: Figure[] = []
    for (const width of widths) {
      figures.push(
        await inPlace(async (place) => {
          const settings = { agents: { echo: { command: ['/bin/echo', 'done'] } }, limits: { running: width } }
          const daemon = await startDaemon(place, { settings, profileDir })
          const spawn = await createWalledSpawn(place)
          let done = 0
          let cpuMs = 0
          const sides = await interleave(
            rounds,
            async () => {
              const before = usageOf(daemon.pid).cpuMs
              const spent = await timed(async () => {
                await inParallel(perRound, width, () => daemon.createTask({ agent: 'echo' }))
                done += perRound
                await daemon.completed('echo', done)
              })
              cpuMs += usageOf(daemon.pid).cpuMs - before
              return perSecond(perRound, spent)
            },
            async () =>
              perSecond(
                perRound,
                await timed(() => inParallel(perRound, width, () => spawn({ file: '/bin/echo', args: ['done'] }))),
              ),
          )
          say(`${width} at once: ${(cpuMs / rounds / perRound).toFixed(1)} ms of CPU per run in the daemon itself`)
          const ours = median(sides.ours)
          const peer = median(sides.peer)
          return {
            name: `walled runs, ${width} at once`,
            ours: rate(ours),
            peer: `${rate(peer)} spawns`,
            ratio: ours / peer,
            target: '≥ 0.5x',
            isMet: ours / peer >= 0.5,
          }
        }),
      )
    }
    return figures
  },
}
