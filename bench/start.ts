import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { silentLog } from '../src/base/log.ts'
import { openEmbedded } from '../src/store/embedded/server.ts'
import { startDaemon } from './daemon.ts'
import { type Benchmark, interleave, median, ms, timed } from './figure.ts'
import { inPlace } from './place.ts'

export const benchmark: Benchmark = {
  about: 'from the spawn of "pawl serve" to listening, in a new home and in a used one, against the bare database server',
  measure: ({ profileDir, say }) =>
    inPlace(async (place) => {
      let homes = 0
      const start = async (home: string) => {
        const daemon = await startDaemon(place, { home, profileDir })
        await daemon.stop()
        return daemon.startMs
      }
      const database = async (home: string) => {
        const since = performance.now()
        const server = await openEmbedded({ home, log: silentLog })
        const spent = performance.now() - since
        await server.release()
        return spent
      }
      const fresh = await interleave(
        3,
        () => start(join(place.folder, `home-${homes++}`)),
        () => database(join(place.folder, `bare-${homes++}`)),
      )
      const used = await interleave(
        5,
        () => start(join(place.folder, 'home-0')),
        () => database(join(place.folder, 'bare-1')),
      )
      const nothing = await interleave(
        5,
        () => timed(() => once(spawn(process.execPath, ['--eval', '0'], { stdio: 'ignore' }), 'exit')),
        async () => 0,
      )
      say(`node -e 0 takes ${ms(median(nothing.ours))} here`)
      const row = (name: string, sides: { ours: number[]; peer: number[] }, mostMs: number) => ({
        name,
        ours: ms(median(sides.ours)),
        peer: `${ms(median(sides.peer))} database alone`,
        ratio: median(sides.ours) / median(sides.peer),
        target: `≤ ${mostMs} ms`,
        isMet: median(sides.ours) <= mostMs,
      })
      return [row('daemon start, first ever', fresh, 3_000), row('daemon start, used home', used, 1_000)]
    }),
}
