import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { beginningOf, type CheckView, judgeProof, linkHash, type ProofView, verifyChain } from './check.ts'

const digest = (text: string) => createHash('sha256').update(text).digest('hex')
const task = 't_000000000000000000'

function chainOf(...changes: Partial<CheckView>[]): CheckView[] {
  let previous = beginningOf(task, digest)
  return changes.map((change, i) => {
    const check = {
      ...{ number: i + 1, round: 1, run: 'r_000000000000000000', name: 'tests', command: 'npm test', exitCode: 0, why: null },
      ...{
        outputDigest: 'o',
        treeBefore: 'a',
        tree: 'a',
        startedAt: '2026-01-01T00:00:00.000Z',
        endedAt: '2026-01-01T00:00:01.000Z',
      },
      ...change,
    }
    const hash = linkHash(task, previous, check, digest)
    const link = { ...check, previous, hash }
    previous = hash
    return link
  })
}
const proofOf = (items: CheckView[], proof: ProofView['proof'] = 'verified'): ProofView => ({
  ...{ task, proof, folder: '/work', items, isChecking: false, trouble: null },
})

describe('the chain of checks', () => {
  it('is whole as it was written, and empty is whole too', () => {
    const items = chainOf({}, { exitCode: 1 }, {})
    expect(verifyChain(task, items, digest)).toEqual({ isWhole: true, checks: 3, head: items[2]?.hash, firstBad: null })
    expect(verifyChain(task, [], digest)).toEqual({ isWhole: true, checks: 0, head: null, firstBad: null })
  })

  it('breaks where any field is changed, a link is taken out, put in, or moved, or comes from another task', () => {
    const items = chainOf({}, { exitCode: 1 }, {})
    const bad = (changed: CheckView[], of = task) => verifyChain(of, changed, digest).firstBad?.number
    const changes: Partial<CheckView>[] = [
      { round: 2 },
      { run: null },
      { name: 'others' },
      { command: 'true' },
      { exitCode: 0 },
      { why: 'x' },
      { outputDigest: 'p' },
      { treeBefore: null },
      { tree: 'b' },
      { startedAt: '2026-01-01T00:00:00.500Z' },
      { endedAt: '2026-01-01T00:00:01.500Z' },
      { hash: 'f'.repeat(64) },
    ]
    for (const change of changes) expect(bad(items.with(1, { ...items[1]!, ...change })), Object.keys(change)[0]).toBe(2)
    expect(bad(items.toSpliced(1, 1))).toBe(3)
    expect(bad(items.toReversed())).toBe(3)
    expect(bad(items.slice(1))).toBe(2)
    expect(bad(items, 't_000000000000000001')).toBe(1)
  })
})

describe('what a chain proves', () => {
  const verdict = (proof: ProofView, now?: string | null) =>
    judgeProof(proof, now === undefined ? undefined : { hash: now }, digest)

  it('is the work, if the last checks passed for the tree that is there', () => {
    expect(verdict(proofOf(chainOf({ exitCode: 1 }, { round: 2 }, { round: 2 })), 'a')).toMatchObject({
      verified: true,
      why: 'All 2 checks passed for the tree a. The workspace is still like that.',
      tree: { proved: 'a', now: 'a', isSame: true },
    })
    expect(verdict(proofOf(chainOf({})))).toMatchObject({ verified: true, tree: { isSame: null } })
  })

  it('is nothing otherwise, and it says why', () => {
    const whole = chainOf({})
    const cases: [ProofView, string | null, string][] = [
      [proofOf([]), 'a', 'No check of this task was run'],
      [proofOf(whole.map((item) => ({ ...item, exitCode: 0, tree: 'b' }))), 'b', 'broken at number 1'],
      [proofOf(chainOf({}, { exitCode: 2 })), 'a', '"tests" did not pass (exit code 2)'],
      [proofOf(chainOf({ why: 'it took longer than 1 s', exitCode: null })), 'a', 'it took longer than 1 s'],
      [proofOf(chainOf({ tree: null })), null, 'bound to nothing'],
      [proofOf(whole, 'none'), 'a', 'did not end well'],
      [proofOf(whole), 'b', 'has changed since'],
    ]
    for (const [proof, now, why] of cases) {
      expect(verdict(proof, now), why).toMatchObject({ verified: false, why: expect.stringContaining(why) })
    }
  })
})
