import type { CheckOutput, ProofView, VerifyView } from '../../domain/task/check.ts'
import type { TaskChangesView } from '../../domain/view/changes.ts'
import type { RunLogPart } from '../../domain/view/run-log.ts'
import { query, taskPath, type Wire } from '../transport/wire.ts'

/** What shows that the work of a task is done, and what it did. */
export interface EvidenceCalls {
  /** What proved that the work of a task is done. */
  listChecks(task: string): Promise<ProofView>
  /** What one of the checks printed. */
  readCheckOutput(task: string, number: number): Promise<CheckOutput>
  /** Walks that chain, and looks whether the workspace is still the one that was looked at. */
  verifyTask(task: string): Promise<VerifyView>
  /** Begins to run the checks of a task once more. */
  recheckTask(task: string): Promise<ProofView>
  /** Which files it changed, run by run and all together. */
  listChanges(task: string): Promise<TaskChangesView>
  /** How, as git writes it: of all runs, or of one; of all files, or of one. */
  readDiff(task: string, which?: { run?: string | undefined; path?: string | undefined }): Promise<string>
  /** A piece of what the program of a run wrote: from `start` on, or from the end. */
  readRunLog(
    task: string,
    run: string,
    which: { stream: 'stdout' | 'stderr'; start?: number | undefined; length?: number | undefined },
  ): Promise<RunLogPart>
}

export const evidenceCalls = ({ get, post, text }: Wire): EvidenceCalls => ({
  listChecks: (id) => get(`${taskPath(id)}/checks`),
  readCheckOutput: (id, number) => get(`${taskPath(id)}/checks/${number}/output`),
  verifyTask: (id) => get(`${taskPath(id)}/checks/verdict`),
  recheckTask: (id) => post(`${taskPath(id)}/checks`, {}, false),
  listChanges: (id) => get(`${taskPath(id)}/changes`),
  readDiff: (id, which = {}) => text(`${taskPath(id)}/diff${query({ ...which })}`),
  readRunLog: (id, run, which) => get(`${taskPath(id)}/runs/${encodeURIComponent(run)}/log`, { ...which }),
})
