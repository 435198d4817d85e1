import { createHash } from 'node:crypto'
import { beginningOf, type CheckView, linkHash, type Proof } from '../../domain/task/check.ts'
import { insertAudit } from '../../store/audit.ts'
import { type CheckRow, insertChecks, lastCheck, type RanCheck } from '../../store/checks.ts'
import type { Tx } from '../../store/database.ts'
import { storableText } from '../../store/events.ts'
import type { TaskRow } from '../../store/tables.ts'

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** Goes on with the chain of a task, in the transaction that says what the checks mean for it; whoever calls holds the task's row. The audit keeps the head. */
export async function keepProof(
  tx: Tx,
  { task, run, folder, by = 'pawl' }: { task: string; run: string | null; folder: string; by?: string },
  ran: readonly RanCheck[],
  at: Date,
): Promise<void> {
  const last = await lastCheck(tx, task)
  let number = last?.number ?? 0
  const round = (last?.round ?? 0) + 1
  let previous = last?.hash ?? beginningOf(task, sha256)
  const rows = ran.map((check): CheckRow => {
    const view = viewOf(++number, round, run, check)
    const hash = linkHash(task, previous, view, sha256)
    const row = rowOf(task, folder, view, { previous, hash })
    previous = hash
    return row
  })
  await insertChecks(tx, rows)
  const passed = ran.every(({ exitCode, why }) => exitCode === 0 && why === null)
  const detail = { run, passed, tree: ran.at(-1)?.tree ?? null, head: previous }
  await insertAudit(tx, { at, actor: by, via: 'pawl', action: 'task.check', subject: task, detail })
}

type Told = Omit<CheckView, 'previous' | 'hash'>

const viewOf = (number: number, round: number, run: string | null, check: RanCheck): Told => ({
  number,
  round,
  run,
  name: storableText(check.name),
  command: storableText(check.command),
  exitCode: check.exitCode,
  why: check.why,
  outputDigest: check.outputDigest,
  treeBefore: check.treeBefore,
  tree: check.tree,
  startedAt: check.startedAt.toISOString(),
  endedAt: check.endedAt.toISOString(),
})

const rowOf = (task: string, folder: string, told: Told, link: { previous: string; hash: string }): CheckRow => ({
  task_id: task,
  number: told.number,
  round: told.round,
  run_id: told.run,
  name: told.name,
  command: told.command,
  exit_code: told.exitCode,
  why: told.why,
  output_digest: told.outputDigest,
  tree_before: told.treeBefore,
  tree: told.tree,
  folder,
  started_at: new Date(told.startedAt),
  ended_at: new Date(told.endedAt),
  ...link,
})

export const checkView = (row: CheckRow): CheckView => ({
  number: row.number,
  round: row.round,
  run: row.run_id,
  name: row.name,
  command: row.command,
  exitCode: row.exit_code,
  why: row.why,
  outputDigest: row.output_digest,
  treeBefore: row.tree_before,
  tree: row.tree,
  startedAt: row.started_at.toISOString(),
  endedAt: row.ended_at.toISOString(),
  previous: row.previous,
  hash: row.hash,
})

/** How far it is known that the work of a task is done. */
export function proofOf({ state, result }: Pick<TaskRow, 'state' | 'result'>): Proof {
  if (result === null || (state !== 'completed' && state !== 'review')) return 'none'
  return result.verified ? 'verified' : 'reported'
}
