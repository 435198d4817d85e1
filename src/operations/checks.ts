import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { createGate } from '../base/gate.ts'
import { hostPath } from '../domain/base/path.ts'
import { conflict, invalid, messageOf, notFound } from '../domain/error.ts'
import type { NewEvent } from '../domain/event/event.ts'
import { newId } from '../domain/id.ts'
import { type CheckOutput, judgeProof, type ProofView, type VerifyView } from '../domain/task/check.ts'
import type { Caller } from '../engine/auth/audit.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import { outputOf } from '../engine/checks/output.ts'
import { checkView, keepProof, proofOf, sha256 } from '../engine/checks/proof.ts'
import { proveWork, type Site } from '../engine/checks/prove.ts'
import { hashAt, type SiteParts, siteOf } from '../engine/checks/site.ts'
import type { Journal } from '../engine/journal/journal.ts'
import { copyWorkspace } from '../engine/workspace/copy.ts'
import type { TreeHash } from '../engine/workspace/tree-hash.ts'
import { removeTree } from '../sandbox/files/remove-tree.ts'
import { type CheckRow, checksOfTask } from '../store/checks.ts'
import { runsOfTask } from '../store/runs.ts'
import type { TaskRow } from '../store/tables.ts'
import { findTask, lockTask, setVerified } from '../store/tasks.ts'

/** What can be asked about the proof that a task is done. */
export interface CheckVerbs {
  listChecks(task: string): Promise<ProofView>
  /** What one of them printed. */
  readCheckOutput(task: string, number: number): Promise<CheckOutput>
  /** Walks the chain of the task's checks and looks whether the workspace is still the one that they looked at. Nothing is run. */
  verifyTask(task: string): Promise<VerifyView>
  /** Begins to run the checks of a task that has come to rest once more, in a copy of its work; `isChecking` of `listChecks` tells when they have ended. */
  recheckTask(task: string, caller: Caller): Promise<ProofView>
}

export interface CheckVerbParts extends SiteParts {
  readonly journal: Journal
  readonly clock: Clock
}

const atOnce = 2

export function checkVerbs(parts: CheckVerbParts): CheckVerbs {
  const { db, journal, clock, home, proving } = parts
  /** Those that are being run again here, or the sentence that says why that ended. */
  const again = new Map<string, 'going' | { readonly trouble: string }>()

  /** Whoever may look may ask for all workspaces at once, and none of it takes a slot: the machine is for the runs. */
  const [reading, checking] = [createGate(atOnce), createGate(atOnce)]
  /** However many ask at once, a workspace is read once at a time. */
  const hashing = new Map<string, Promise<TreeHash | undefined>>()
  const hashOnce = (task: TaskRow, folder: string) => {
    const going = hashing.get(task.id) ?? reading(() => hashAt(parts, task, folder)).finally(() => hashing.delete(task.id))
    hashing.set(task.id, going)
    return going
  }

  const existing = async (id: string): Promise<TaskRow> => {
    const task = await translateDbErrors(() => findTask(db, id))
    if (!task) throw notFound(`There is no task ${id}; "pawl ls" lists those there are.`)
    return task
  }
  const proofView = (task: TaskRow, rows: readonly CheckRow[]): ProofView => {
    const state = again.get(task.id)
    return {
      task: task.id,
      proof: proofOf(task),
      folder: rows.at(-1)?.folder ?? null,
      items: rows.map(checkView),
      isChecking: state === 'going',
      trouble: typeof state === 'object' ? state.trouble : null,
    }
  }
  const read = async (id: string) => {
    const task = await existing(id)
    const rows = await translateDbErrors(() => checksOfTask(db, id))
    return { task, rows, proof: proofView(task, rows) }
  }

  return {
    listChecks: async (id) => (await read(id)).proof,

    async readCheckOutput(id, number) {
      const { rows } = await read(id)
      const runs = await translateDbErrors(() => runsOfTask(db, id))
      return outputOf(home, { task: id, rows, runs: runs.map((run) => run.id) }, number)
    },

    async verifyTask(id) {
      const { task, proof } = await read(id)
      const now = proof.folder === null ? undefined : await hashOnce(task, proof.folder)
      return judgeProof(proof, now, sha256)
    },

    async recheckTask(id, caller) {
      const { task, rows } = await read(id)
      const { checks } = task.spec
      if (!checks) throw invalid(`Task ${id} has no checks; name them with --check when you make a task.`)
      if (task.state === 'running' || again.get(id) === 'going')
        throw conflict(`The work of task ${id} is being done or checked right now; ask again when that has ended.`)
      const folder = rows.at(-1)?.folder ?? task.workspace
      const site = await siteOf(parts, task, folder)
      again.set(id, 'going')
      void checking(() => recheck(task, { site, folder, checks, caller })).then(
        () => again.delete(id),
        (error: unknown) => again.set(id, { trouble: `The checks could not be run again: ${messageOf(error)}` }),
      )
      return proofView(task, rows)
    },
  }

  async function recheck(
    task: TaskRow,
    {
      site,
      folder,
      checks,
      caller,
    }: { site: Site; folder: string; checks: NonNullable<TaskRow['spec']['checks']>; caller: Caller },
  ): Promise<void> {
    const said: NewEvent[] = []
    const reveals: (() => void)[] = []
    const stop = new AbortController()
    const signal = AbortSignal.any([proving.signal, stop.signal])
    let full: string | undefined
    try {
      // One that was left by a crash is no work of anybody.
      await removeTree(join(site.records, 'copies'))
      const copy = await copyWorkspace({
        original: folder,
        folder: join(site.records, 'copies'),
        task: task.id,
        fence: task.fence,
        owner: site.user ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
        without: home,
        paths: proving.codePaths,
        mark: site.workspace.mark,
        signal,
        confine: site.enforced ? site.sandbox.confine : undefined,
      })
      const workspace = { ...site.workspace, source: hostPath(copy.path), mark: undefined, guardFile: copy.guardFile }
      const { ran, passed } = await proveWork(
        proving,
        { ...site, workspace },
        {
          id: newId('run', clock.now()),
          task,
          checks,
          signal,
          emit: (event) => said.push(event),
          hide: (secrets) => {
            for (const { name, value } of secrets) reveals.push(proving.redactor.add(name, value))
          },
          isOurs: async () => true,
          onDiskLimit: (message) => {
            full = message
            stop.abort()
          },
        },
      )
      const at = new Date(clock.now())
      await translateDbErrors(() =>
        journal.transact('task.recheck', async (tx, record) => {
          const now = await lockTask(tx, task.id)
          // It runs again: what was looked at is not its work any more.
          if (!now || now.state === 'running' || now.fence !== task.fence) return
          await keepProof(tx, { task: task.id, run: null, folder, by: caller.user ?? caller.by }, proving.redactor.value(ran), at)
          await setVerified(tx, task.id, passed, at)
          for (const event of said) record({ task: task.id, event })
        }),
      )
    } catch (error) {
      throw full === undefined ? error : new Error(full)
    } finally {
      for (const reveal of reveals) reveal()
      await removeTree(join(site.records, 'copies'))
    }
  }
}
