import { beforeAll, describe, expect, it } from 'vitest'
import { runAs, ways } from './besiege.ts'
import type { Planting } from './planting.ts'
import { rows } from './rows.ts'

/** Where each row plants. What a row does not name belongs to the last one. */
const places: Record<number, RegExp> = {
  38: /^\.git(\/|$)/,
  39: /^(made|docs|pointer)\//,
  40: /^\.(claude|mcp\.json|vscode)(\/|$)/,
  41: /^(\.(codex|gemini|cursor|opencode|envrc|husky|devcontainer|idea|yarnrc|pnpmfile|cargo)|opencode\.json)/,
  42: /^(a\/b\/c\/d|e\/f\/g\/h)\//,
  52: /^(late|swap|a-away|claude-away|vscode-away|\.npmrc|odd|closed|entered|still|pipes|large)/,
}
const sentence = (row: number) => rows.find((one) => one.row === row)?.attempt

describe.each(ways)('what an agent plants, with Pawl run by %s', (way) => {
  let guarded: Planting
  let free: Planting
  beforeAll(async () => {
    ;({ guarded, free } = await runAs<{ guarded: Planting; free: Planting }>(way, 'planting.ts'))
  })

  for (const [row, place] of Object.entries(places))
    it(`${row}. ${sentence(Number(row))}: refused, or gone when the run is settled`, () => {
      expect(guarded.said).toBe('end\n')
      expect(guarded.left.filter((path) => place.test(path))).toEqual([])
      expect(free.left.filter((path) => place.test(path))).not.toEqual([])
    })

  it('nothing is left that belongs to no row, and no stub', () => {
    const known = Object.values(places)
    expect(guarded.left.filter((path) => !known.some((place) => place.test(path)))).toEqual([])
    expect(guarded.stubs).toEqual([])
  })

  it('git that somebody runs there afterwards starts nothing, and would have', () => {
    expect(guarded.ran).toEqual([])
    expect(free.ran).not.toEqual([])
  })
})
