import { beforeAll, describe, expect, it } from 'vitest'
import { runAs, ways } from './besiege.ts'
import { rows } from './rows.ts'
import type { Attempt, Siege } from './siege.ts'

/** Rows that are about what the host does with what an agent leaves behind; they have files of their own here. */
const elsewhere = [6, 8, 23, 24, 25, 38, 39, 40, 41, 42, 44, 50, 51, 52]

/** Ideas that the list does not have. */
const beyond: Record<number, string> = {
  101: 'open terminals of others',
  102: 'leave core files',
  103: 'open a file by its handle',
  104: 'find shared memory of others',
  105: 'read files that others keep in memory',
  106: 'learn from its mounts where things are outside',
  107: 'register a program interpreter',
  108: "read the kernel's memory or log",
  109: 'rename the machine',
  110: 'take precedence over others',
  111: 'call the kernel the way of another architecture',
}

const openOf = (attempts: readonly Attempt[], row: number) =>
  attempts.filter((attempt) => attempt.row === row && attempt.open).map(({ what, detail }) => `${what}: ${detail}`)

describe.each(ways)('attacked from inside, with Pawl run by %s', (way) => {
  let siege: Siege
  beforeAll(async () => {
    siege = await runAs(way, 'siege.ts')
  })

  for (const { row, attempt, allowed, freely } of rows.filter(({ row }) => !elsewhere.includes(row))) {
    it(`${row}. ${attempt}: ${allowed ? 'works' : 'blocked'}`, () => {
      const tried = siege.walled.filter((one) => one.row === row)
      expect(tried.length).toBeGreaterThan(0)
      if (allowed) return expect(tried.filter(({ open }) => !open)).toEqual([])
      expect(openOf(siege.walled, row)).toEqual([])
      // Without walls it works: the attempt is a real one.
      if (freely === 'user') expect(openOf(siege.free, row)).not.toEqual([])
      if (freely === 'root' && way === 'root that drops its rights') expect(openOf(siege.freeAsRoot, row)).not.toEqual([])
    })
  }

  it.each(Object.entries(beyond))('%s. beyond the corpus: %s: blocked', (row) => {
    expect(siege.walled.filter((attempt) => attempt.row === Number(row))).not.toEqual([])
    expect(openOf(siege.walled, Number(row))).toEqual([])
  })
})

it('the corpus has 52 rows, each with its number', () => {
  expect(rows.map(({ row }) => row)).toEqual(Array.from({ length: 52 }, (_, index) => index + 1))
})
