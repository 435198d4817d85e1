import { z } from 'zod'
import { canonicalJson } from '../base/canonical-json.ts'
import { RunId, TaskId } from '../id.ts'

const Time = z.iso.datetime()

/** How far it is known that the work of a task is done: nobody said so, the agent said so, or checks that Pawl ran itself have shown it. */
export const proofs = ['none', 'reported', 'verified'] as const
export type Proof = (typeof proofs)[number]

/** One check that Pawl ran, as a link of its task's chain. */
export const CheckView = z.object({
  number: z.number().int().describe('Its place in the chain of the task, without gaps.'),
  round: z.number().int().describe('Checks of one round were run together; each goes on from one tree.'),
  run: RunId.nullable().describe('The run whose work it looked at; null if somebody had the checks run again.'),
  name: z.string(),
  command: z.string(),
  exitCode: z.number().nullable(),
  why: z.string().nullable().describe('Why it did not come to an end of its own.'),
  outputDigest: z.string().describe('SHA-256 of what is kept of its output.'),
  treeBefore: z.string().nullable().describe('The hash of the workspace before it; null if the workspace is too large.'),
  tree: z.string().nullable().describe('The hash of the workspace after it.'),
  startedAt: Time,
  endedAt: Time,
  previous: z.string().describe('The hash of the link before it.'),
  hash: z.string().describe('SHA-256 of the hash before it and of this link.'),
})
export type CheckView = z.infer<typeof CheckView>

export const CheckOutput = z.object({
  number: z.number().int(),
  output: z.string().nullable().describe('What it printed, without secrets; null if that is not kept here any more.'),
  leftOut: z.number().describe('So many characters before it are left out.'),
})
export type CheckOutput = z.infer<typeof CheckOutput>

/** The whole chain of a task: what `pawl verify` looks at, and what it can look at again anywhere. */
export const ProofView = z.object({
  task: TaskId,
  proof: z.enum(proofs),
  folder: z.string().nullable().describe('Where the work was that was looked at last.'),
  items: z.array(CheckView),
  isChecking: z.boolean().describe('The checks are being run again.'),
  trouble: z.string().nullable().describe('Why they could not be run again the last time.'),
})
export type ProofView = z.infer<typeof ProofView>

export const ChainVerdict = z.object({
  isWhole: z.boolean(),
  checks: z.number(),
  head: z.string().nullable().describe('The last hash. It stands in the audit, too.'),
  firstBad: z.object({ number: z.number(), why: z.string() }).nullable(),
})
export type ChainVerdict = z.infer<typeof ChainVerdict>

export const VerifyView = ProofView.extend({
  verified: z
    .boolean()
    .describe('The chain is whole, the last checks passed, and the workspace, if it is there, is still the one they looked at.'),
  why: z.string().describe('A sentence.'),
  chain: ChainVerdict,
  tree: z.object({
    proved: z.string().nullable(),
    now: z.string().nullable(),
    isSame: z.boolean().nullable().describe('Null if nobody can tell.'),
  }),
})
export type VerifyView = z.infer<typeof VerifyView>

export const hasPassed = (check: Pick<CheckView, 'exitCode' | 'why'>) => check.exitCode === 0 && check.why === null

type Digest = (text: string) => string

/** What the first link of a task's chain goes on from. */
export const beginningOf = (task: string, digest: Digest) => digest(`checks of ${task}`)

export const linkHash = (task: string, previous: string, check: Omit<CheckView, 'previous' | 'hash'>, digest: Digest) => {
  const { number, round, run, name, command, exitCode, why, outputDigest, treeBefore, tree, startedAt, endedAt } = check
  const told = { task, number, round, run, name, command, exitCode, why, outputDigest, treeBefore, tree, startedAt, endedAt }
  return digest(`${previous}\n${canonicalJson(told)}`)
}

/** Walks the chain: whatever was changed, taken out or put in afterwards breaks it there. */
export function verifyChain(task: string, items: readonly CheckView[], digest: Digest): ChainVerdict {
  let previous = beginningOf(task, digest)
  for (const [i, item] of items.entries()) {
    const bad = (why: string) => ({
      isWhole: false,
      checks: items.length,
      head: items.at(-1)?.hash ?? null,
      firstBad: { number: item.number, why },
    })
    if (item.number !== i + 1) return bad(`number ${i + 1} is missing`)
    if (item.previous !== previous) return bad('it does not go on from the one before')
    if (item.hash !== linkHash(task, previous, item, digest)) return bad('it was changed')
    previous = item.hash
  }
  return { isWhole: true, checks: items.length, head: items.at(-1)?.hash ?? null, firstBad: null }
}

/** What a chain proves, by itself or of the workspace as it is now. */
export function judgeProof(proof: ProofView, now: { readonly hash: string | null } | undefined, digest: Digest): VerifyView {
  const chain = verifyChain(proof.task, proof.items, digest)
  const last = lastRound(proof.items)
  const proved = last.at(-1)?.tree ?? null
  const hash = now?.hash ?? null
  const tree = { proved, now: hash, isSame: proved === null || hash === null ? null : proved === hash }
  const answer = (verified: boolean, why: string): VerifyView => ({ ...proof, verified, why, chain, tree })
  if (!chain.isWhole)
    return answer(false, `The chain of checks is broken at number ${chain.firstBad?.number}: ${chain.firstBad?.why}.`)
  if (last.length === 0) return answer(false, 'No check of this task was run, so it is as the agent reports it.')
  const failed = last.find((check) => !hasPassed(check))
  if (failed)
    return answer(
      false,
      `The check "${failed.name}" did not pass${failed.why === null ? ` (exit code ${failed.exitCode})` : `: ${failed.why}`}.`,
    )
  if (proved === null)
    return answer(false, 'The checks passed, but the workspace is too large to be hashed, so they are bound to nothing.')
  if (proof.proof !== 'verified') return answer(false, 'The last checks passed, but the task did not end well after them.')
  if (tree.isSame === false)
    return answer(false, `The checks passed for the tree ${proved.slice(0, 12)}, but the workspace has changed since.`)
  const unknown =
    tree.isSame === null
      ? ' Whether the workspace is still like that cannot be told from here.'
      : ' The workspace is still like that.'
  return answer(
    true,
    `${last.length === 1 ? 'The check' : `All ${last.length} checks`} passed for the tree ${proved.slice(0, 12)}.${unknown}`,
  )
}

/** The checks that were run together last. */
function lastRound(items: readonly CheckView[]): readonly CheckView[] {
  const last = items.at(-1)?.round
  return items.filter(({ round }) => round === last)
}
