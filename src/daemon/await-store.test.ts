import { expect, test } from 'vitest'
import { HandClock } from '../../test/engine/test-clock.ts'
import { createLog, silentLog } from '../base/log.ts'
import { PawlError } from '../domain/error.ts'
import { openStore } from '../store/open.ts'
import { awaitStore, isNotUpYet } from './await-store.ts'

const failing = (code: string) =>
  new PawlError('unavailable', 'Cannot reach the database.', { cause: Object.assign(new Error(code), { code }) })

test('a database that is not up yet is waited for with growing pauses, with one line a minute', async () => {
  const clock = new HandClock()
  const lines: string[] = []
  const log = createLog({ level: 'warn', format: 'json', now: clock.now, write: (line) => void lines.push(line) })
  const triedAt: number[] = []
  const began = clock.monotonic()
  const opened = awaitStore(
    async () => {
      triedAt.push(clock.monotonic() - began)
      if (triedAt.length < 14) throw failing(triedAt.length % 2 === 0 ? 'ECONNREFUSED' : '57P03')
      return 'open'
    },
    { clock, log },
  )
  for (let seconds = 0; seconds < 300 && triedAt.length < 14; seconds++) {
    await new Promise(setImmediate)
    clock.advance(500)
  }
  expect(await opened).toBe('open')
  const pauses = triedAt.slice(1).map((at, index) => at - triedAt[index]!)
  expect(pauses.slice(0, 7)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000])
  expect(lines).toHaveLength(1 + Math.floor(triedAt.at(-2)! / 60_000))
})

test('a mistake is told at once', async () => {
  const clock = new HandClock()
  for (const code of ['28P01', '3D000', '42501'])
    await expect(awaitStore(() => Promise.reject(failing(code)), { clock, log: silentLog })).rejects.toThrow('Cannot reach')
})

test('what a database says that nobody serves is waited for', async () => {
  const url = 'postgres://nobody@127.0.0.1:1/none'
  const error = await openStore({ home: '/nowhere', url, log: silentLog }).catch((caught: unknown) => caught)
  expect(isNotUpYet(error), String(error)).toBe(true)
})
