import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { notFound } from '../../domain/error.ts'
import type { CheckOutput } from '../../domain/task/check.ts'
import type { CheckRow } from '../../store/checks.ts'

/** More of an output is shown by nobody; the end says most. */
const mostChars = 200_000

/**
 * What a check printed. The file is that of the check only if it has its digest: the checks that somebody had run again write over those of the time before.
 * `runs` are those of the task, in their order.
 */
export async function outputOf(
  home: string,
  { task, rows, runs }: { task: string; rows: readonly CheckRow[]; runs: readonly string[] },
  number: number,
): Promise<CheckOutput> {
  const row = rows.find((one) => one.number === number)
  if (!row) throw notFound(`Task ${task} has no check number ${number}; "pawl verify ${task}" lists those there are.`)
  const place = rows.filter(({ round }) => round === row.round).indexOf(row) + 1
  const file = `check-${place}.log`
  const files =
    row.run_id === null ? runs.map((run) => join(home, 'runs', run, 'again', file)) : [join(home, 'runs', row.run_id, file)]
  for (const path of files.toReversed()) {
    const bytes = await readFile(path).catch(nothingThere)
    if (bytes && createHash('sha256').update(bytes).digest('hex') === row.output_digest) return cutOutput(number, bytes)
  }
  return { number, output: null, leftOut: 0 }
}

function cutOutput(number: number, bytes: Buffer): CheckOutput {
  const text = bytes.toString('utf8')
  return { number, output: text.slice(-mostChars), leftOut: Math.max(0, text.length - mostChars) }
}

function nothingThere(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
}
