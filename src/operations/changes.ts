import { notFound } from '../domain/error.ts'
import type { RunChangesView, TaskChangesView } from '../domain/view/changes.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import { composeRuns } from '../engine/workspace/changes/compose.ts'
import { changesOfTask, patchesOfTask } from '../store/changes.ts'
import type { Db } from '../store/database.ts'
import { runsOfTask } from '../store/runs.ts'
import type { RunRow } from '../store/tables.ts'
import { findTask } from '../store/tasks.ts'

/** What can be asked about what tasks changed in their workspaces. */
export interface ChangeVerbs {
  /** Which files, run by run and all together. */
  listChanges(task: string): Promise<TaskChangesView>
  /** How, as git writes it: of all runs in their order, or of one; of all files, or of one. */
  readDiff(task: string, which: DiffFilter): Promise<string>
}

export interface DiffFilter {
  readonly run?: string | undefined
  readonly path?: string | undefined
}

export function changeVerbs({ db }: { readonly db: Db }): ChangeVerbs {
  const runsOf = async (id: string): Promise<RunRow[]> => {
    const [task, runs] = await translateDbErrors(() => Promise.all([findTask(db, id), runsOfTask(db, id)]))
    if (!task) throw notFound(`There is no task ${id}; "pawl ls" lists those there are.`)
    return runs
  }
  return {
    async listChanges(id) {
      const rows = await runsOf(id)
      const kept = new Map((await translateDbErrors(() => changesOfTask(db, id))).map((row) => [row.run_id, row]))
      const covering = new Map([...kept.values()].flatMap(({ run_id, covers }) => covers.map((run) => [run, run_id])))
      const runs = rows.map((row, at): RunChangesView => {
        const found = kept.get(row.id)
        const state =
          row.state !== 'ended' ? 'open' : (row.changes ?? (covering.has(row.id) || !wasBegun(row) ? 'nothing' : 'unknown'))
        return {
          run: row.id,
          number: at + 1,
          state,
          why: found?.why ?? whyOf(state, covering.get(row.id)),
          covers: found?.covers ?? [],
          files: found?.files ?? [],
          fileCount: found?.file_count ?? 0,
          added: found?.added ?? 0,
          removed: found?.removed ?? 0,
        }
      })
      const { files, isComposed } = composeRuns(runs)
      const sum = (key: 'added' | 'removed') => runs.reduce((total, run) => total + run[key], 0)
      const notNamed = runs.reduce((total, run) => total + run.fileCount - run.files.length, 0)
      return {
        task: id,
        files,
        fileCount: files.length + notNamed,
        added: sum('added'),
        removed: sum('removed'),
        isComposed,
        runs,
      }
    },

    async readDiff(id, { run, path }) {
      const rows = await runsOf(id)
      if (run !== undefined && !rows.some((row) => row.id === run))
        throw notFound(`Task ${id} has no run ${run}; "pawl show ${id}" lists those it has.`)
      const kept = await translateDbErrors(() => patchesOfTask(db, id, run))
      const isMeant = (file: { path: string; from: string | null }) =>
        path === undefined || file.path === path || file.from === path
      if (path !== undefined && !kept.some(({ files }) => files.some(isMeant)))
        throw notFound(
          `${run === undefined ? `Task ${id}` : `Run ${run}`} did not change ${path}; "pawl task diff ${id} --name-only" lists what was changed.`,
        )
      return kept.flatMap(({ files, patches }) => patches.filter((_, at) => files[at] && isMeant(files[at]))).join('')
    },
  }
}

/** What is in force for a run is written down when its workspace is pictured, before its agent is started. */
const wasBegun = ({ profile }: RunRow) => profile !== null

function whyOf(state: RunChangesView['state'], coveredBy: string | undefined): string | null {
  if (coveredBy !== undefined) return `The run was cut off; what it changed is told with run ${coveredBy}.`
  return state === 'unknown'
    ? 'The run was cut off, or ended before Pawl kept such things; no later one has told what it changed.'
    : null
}
