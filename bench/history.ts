import { homeWithHistory } from '../test/history/home.ts'
import { screens } from '../test/history/screens.ts'
import { type Benchmark, type Figure, ms, timed } from './figure.ts'
import { inPlace } from './place.ts'

const many = 100_000
/** As many as fill the pages of every list. */
const few = 300
const rounds = 40
const target = 3
/** A list of three rows is a page of fifty by then. */
const fullPageMs = 0.5

export const benchmark: Benchmark = {
  about: `what screens ask the database for, with ${many.toLocaleString()} ended tasks against ${few}`,
  measure: ({ say }) =>
    inPlace(async (place) => {
      const now = new Date()
      const homes = await Promise.all(
        [many, few].map(async (tasks) => {
          const home = await homeWithHistory({ tasks, now })
          place.onEnd(home.close)
          return home
        }),
      )
      say(`a home of ${many.toLocaleString()} tasks was brought to this schema in ${ms(homes[0]!.migratedMs)}`)
      const undone = new Error('undone')
      const figures: Figure[] = []
      for (const { name, ask } of screens(now)) {
        const spent = homes.map((): number[] => [])
        for (let round = 0; round < rounds; round++)
          for (const [n, { database }] of homes.entries())
            await database.db
              .transaction()
              .execute(async (tx) => {
                spent[n]!.push(await timed(() => ask(tx)))
                throw undone
              })
              .catch((error: unknown) => {
                if (error !== undone) throw error
              })
        // The quickest of each: the work is the same every time, and whatever else the machine does only adds to it.
        const [ours, peer] = spent.map((times) => Math.min(...times)) as [number, number]
        figures.push({
          name,
          ours: `${ours.toFixed(2)} ms`,
          peer: `${peer.toFixed(2)} ms`,
          ratio: ours / peer,
          target: `≤ ${target}x + ${fullPageMs} ms`,
          isMet: ours <= target * peer + fullPageMs,
        })
      }
      return figures
    }),
}
