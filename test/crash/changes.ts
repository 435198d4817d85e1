import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TaskView } from '../../src/domain/view/view.ts'
import type { CrashHome } from './home.ts'

/** C12: what the runs of a task made in its folder is told once and with all of them together, whichever of them was cut off. */
export async function wrongWithChanges(home: CrashHome, task: TaskView): Promise<string[]> {
  if (!existsSync(join(task.workspace, 'marks'))) return []
  const { files, runs } = await home.ask((client) => client.listChanges(task.id))
  // A task that was cancelled after its last runs had been cut off has no later one that could tell.
  const nobodyCouldTell = (at: number) => task.state === 'cancelled' && runs.slice(at).every(({ state }) => state === 'unknown')
  const unknown = runs.filter(
    (run, at) => run.state === 'unknown' && !nobodyCouldTell(at) && !run.why?.includes('the database was away'),
  )
  if (unknown.length > 0) return unknown.map(({ number, why }) => `C12: what run ${number} changed is not known: ${why}`)
  if (runs.some(({ state }) => state === 'unknown' || state === 'open')) return []
  const made = files.find(({ path }) => path === 'marks')
  if (made?.status !== 'added') return [`C12: the file that its agent made is told as ${JSON.stringify(made)}`]
  const told = new Set(runs.flatMap(({ run, covers }) => [run, ...covers]))
  return task.runs.every(({ id }) => told.has(id)) ? [] : ['C12: a run is missing among those that changed something']
}
