import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isEnded } from '../../src/domain/task/task.ts'
import type { TaskView } from '../../src/domain/view/view.ts'
import { isLeft } from '../../src/sandbox/files/temporary.ts'
import type { CrashHome } from './home.ts'
import { namesIn, readIfThere } from './scenario.ts'

/** C14: nothing that a killed process made for a moment is left in the home, no copy of a task that has ended, and in a folder of the user's nothing but work. */
export function wrongWithLeft(home: CrashHome, tasks: readonly TaskView[]): string[] {
  const names = readdirSync(home.dir, { recursive: true, encoding: 'utf8' }).filter((name) => !name.startsWith('postgres'))
  const wrong = names.filter((name) => isLeft(name)).map((name) => `C14: ${name} is left in the home`)
  for (const { id, state, workspace } of tasks) {
    const copies = namesIn(join(home.dir, 'workspaces')).filter((name) => name.startsWith(`${id}.`) && name.includes('.copy'))
    if (isEnded(state)) wrong.push(...copies.map((name) => `C14: the copy ${name} of an ended task is left`))
    if (!workspace.includes('pawl-crash-user-')) continue
    const strange = namesIn(workspace).filter((name) => !['users.txt', 'marks', 'lock', 'prompt.txt'].includes(name))
    wrong.push(...strange.map((name) => `C14: ${name} is left in the folder of ${id}`))
    if (readIfThere(join(workspace, 'users.txt')) !== "the user's") wrong.push(`C14: the user's file of ${id} is gone`)
  }
  return wrong
}
