import { createHash } from 'node:crypto'
import { type Category, categories, type Outcome } from '../../domain/run/outcome.ts'
import { treeHash } from '../workspace/tree-hash.ts'
import { normalised } from './normalise.ts'

/** What a run came to, as far as it tells whether the next one got any further. */
export interface CameTo {
  readonly outcome: Outcome
  readonly category?: Category | undefined
  readonly message?: string | undefined
  readonly text: string
  /** Of the workspace as the run left it; null if it could not be read. */
  readonly tree: string | null
}

/** Runs that end in this way were ended by something outside: that nothing changed meanwhile says nothing about the agent. */
const passing: ReadonlySet<Category> = new Set(['rate_limited', 'overloaded', 'usage_limit', 'network', 'crashed'])

export const leavesFingerprint = ({ outcome, category }: Pick<CameTo, 'outcome' | 'category'>) =>
  outcome === 'failed' && (category === undefined || !passing.has(category))

/** The same for runs that came to the same end with the same work. Undefined for those whose end says nothing of progress. */
export function fingerprintOf(end: CameTo): string | undefined {
  if (!leavesFingerprint(end)) return undefined
  const parts = [end.tree, normalised(end.text, 10_000), end.category ?? null, normalised(end.message ?? '', 1_000)]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

/** Reading a large workspace costs more than another try; of one that is too large nobody can say that nothing changed. */
const limits = { files: 50_000, bytes: 2_000_000_000, ms: 5_000 }

/** The fingerprint of a run that left its work in this folder. Only of runs after which another would be tried. */
export async function fingerprintIn(folder: string, verdict: Omit<CameTo, 'tree'>, home?: string): Promise<string | undefined> {
  if (!leavesFingerprint(verdict) || categories[verdict.category ?? 'internal'].retry === 'never') return undefined
  const tree = await treeHash(folder, { home, limits }).catch(() => undefined)
  return tree?.hash == null ? undefined : fingerprintOf({ ...verdict, tree: tree.hash })
}
