import type { Clock } from '../base/clock.ts'
import { fp } from '../base/failpoint.ts'
import { conflict, invalid, unavailable } from '../domain/error.ts'
import { newId } from '../domain/id.ts'
import type { Imported } from '../domain/view/transfer.ts'
import type { Audit, Caller } from '../engine/auth/audit.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import { type Database, type Db, inTransaction, type Tx } from '../store/database.ts'
import { exportLines } from '../store/transfer/export.ts'
import { insertRow, insertSessionFile, insertTick, strandOpenRuns } from '../store/transfer/import.ts'
import { exportVersion, type Line, taskTables } from '../store/transfer/tables.ts'
import { assertSound } from './transfer-line.ts'

export interface TransferVerbs {
  /** Everything, or some tasks, as JSON lines (docs/export.md). */
  exportTasks(options: { tasks?: readonly string[] | undefined }, caller: Caller): AsyncIterable<string>
  /** Takes such lines in. A task that is here already is skipped whole; each of the others is there whole, or not at all. */
  importTasks(lines: AsyncIterable<string>, caller: Caller): Promise<Imported>
}

export interface TransferVerbParts {
  readonly db: Db
  readonly clock: Clock
  readonly audit: Audit
  /** Where a connection for an export comes from. */
  readonly backups?: { readonly database: Pick<Database, 'alone'> } | undefined
}

/** The last line of an export: a file that was cut between two tasks looks like a smaller one but for this. */
const closing = 'pawl-export-end'

const tableOf = new Map<string, string>([
  ['profile', 'profiles'],
  ['session', 'sessions'],
  ['schedule', 'schedules'],
  ['task', 'tasks'],
  ...taskTables.map(({ kind, table }) => [kind, table] as const),
])

export function transferVerbs({ db, clock, audit, backups }: TransferVerbParts): TransferVerbs {
  let isExporting = false
  return {
    async *exportTasks(options, caller) {
      if (!backups) throw unavailable('This program exports nothing; run "pawl export".')
      if (isExporting) throw conflict('An export is under way here; ask again when it is done.')
      isExporting = true
      try {
        await audit.record(caller, 'task.export', 'tasks', options.tasks ? { tasks: [...options.tasks] } : {})
        const client = await translateDbErrors(() => backups.database.alone())
        try {
          const at = new Date(clock.now()).toISOString()
          yield JSON.stringify({ kind: 'pawl-export', version: exportVersion, at, closes: true })
          let count = 1
          for await (const line of exportLines(client, options)) {
            yield JSON.stringify(line)
            count++
          }
          yield JSON.stringify({ kind: closing, lines: count })
        } finally {
          await client.end()
        }
      } finally {
        isExporting = false
      }
    },
    async importTasks(lines, caller) {
      const imported: string[] = []
      const skipped: string[] = []
      const worker = newId('worker', clock.now())
      let bundle: Line[] | undefined
      let number = 0
      let isWhole = true
      for await (const text of lines) {
        number++
        if (text.trim() === '') continue
        const line: Line & { closes?: unknown; lines?: unknown } = parseLine(text, number)
        if (number === 1) {
          assertHeader(line)
          // Earlier ones had no last line that counts the others.
          isWhole = !line.closes
          continue
        }
        if (line.kind === closing) {
          isWhole = line.lines === number - 1
          continue
        }
        await assertSound(line, number)
        if (line.kind === 'task') bundle = [line]
        else if (line.kind === 'end' && bundle) {
          const all = bundle
          const isNew = await inTransaction(db, async (tx) => {
            const taken = await takeTask(tx, all, { worker, now: new Date(clock.now()) })
            await fp('import.task.before')
            return taken
          })
          await fp('import.task.after')
          const list = isNew ? imported : skipped
          list.push(String(all[0]?.row.id))
          bundle = undefined
        } else if (bundle) bundle.push(line)
        else {
          await inTransaction(db, async (tx) => {
            await takeRow(tx, line)
            await fp('import.row.before')
          })
          await fp('import.row.after')
        }
      }
      if (number === 0) throw invalid('The file is empty; make one with: pawl export > everything.jsonl')
      await audit.record(caller, 'task.import', 'tasks', { imported: imported.length, skipped: skipped.length })
      return { imported, skipped, cut: bundle ? String(bundle[0]?.row.id) : null, isWhole: isWhole && bundle === undefined }
    },
  }
}

async function takeTask(tx: Tx, [task, ...rest]: readonly Line[], own: { worker: string; now: Date }): Promise<boolean> {
  const id = String(task?.row.id)
  if (!task || !(await insertRow(tx, 'tasks', task.row))) return false
  for (const { kind, row } of rest) {
    if (row.task_id !== id) throw invalid(`A line of kind ${kind} between the lines of task ${id} belongs to another task.`)
    await insertRow(tx, tableNamed(kind), row)
  }
  await strandOpenRuns(tx, id, own.worker, own.now)
  return true
}

/** What belongs to no task. */
async function takeRow(tx: Tx, { kind, row }: Line): Promise<void> {
  if (kind === 'session_file') await insertSessionFile(tx, row)
  else if (kind === 'tick') await insertTick(tx, row)
  else await insertRow(tx, tableNamed(kind), row)
}

function tableNamed(kind: string): string {
  const table = tableOf.get(kind)
  if (table === undefined)
    throw invalid(`There is a line of the kind "${kind.slice(0, 50)}", which is not known here; use a newer Pawl.`)
  return table
}

function parseLine(text: string, number: number): Line {
  try {
    const line = JSON.parse(text) as Line
    if (typeof line.kind === 'string') return line
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw invalid(
    `Line ${number} is no line of an export; what came before it is imported, and is skipped when the file is read again.`,
  )
}

function assertHeader(line: Line & { version?: unknown }): void {
  if (line.kind !== 'pawl-export') throw invalid('This is no export of Pawl: its first line does not say so.')
  if (line.version !== exportVersion)
    throw invalid(`This export has version ${String(line.version)}; this Pawl reads version ${exportVersion}.`)
}
