import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { adapters } from '../../src/agents/index.ts'
import type { Event } from '../../src/domain/event/event.ts'
import type { TaskView } from '../../src/domain/view/view.ts'
import { archiveOf } from './archive.ts'
import type { CrashHome } from './home.ts'
import { type Acknowledged, ifThere, namesIn, sessionHome } from './scenario.ts'

/** C11: what is archived of a conversation is whole and is how its file begins; what was lost of it came back from there to the byte, once, and was told. */
export async function checkConversation(
  home: CrashHome,
  { acknowledged, task, events }: { acknowledged: Acknowledged; task: TaskView; events: readonly Event[] },
  say: (text: string) => void,
): Promise<void> {
  const onDisk = (path: string) => ifThere(() => readFileSync(join(sessionHome(home, task), path))) ?? Buffer.alloc(0)
  for (const { path, bytes, faults } of await archiveOf(home, task.session)) {
    for (const fault of faults) say(`C11: ${fault}`)
    if (!beginsWith(onDisk(path), bytes))
      say(`C11: ${path} does not begin with the ${bytes.length} bytes that are archived of it`)
  }

  const restored = events.filter((event) => event.type === 'session.restored')
  const archived = acknowledged.lost.filter((file) => file.wasArchived)
  if (restored.length > archived.length) say(`C11: restored ${restored.length} times, lost ${archived.length} times`)
  for (const { path, bytes, afterRuns } of archived) {
    if (!beginsWith(onDisk(path), bytes)) say(`C11: ${path} was not restored as it was`)
    // A run that is killed after the file is back and before it says so leaves the next one nothing to restore.
    if (restored.length === 0 && task.runs.length === afterRuns + 1) say(`C11: nothing tells that ${path} was restored`)
  }
  for (const run of task.runs)
    if (run.category === 'session_missing') say(`C11: ${run.id} was started without the file of its conversation`)
  if (acknowledged.lost.length > 0 && archived.length === acknowledged.lost.length)
    for (const event of events)
      if (event.type === 'session.rebuilt' || event.type === 'session.reset') say(`C11: ${event.type} although all was archived`)
}

const beginsWith = (whole: Buffer, beginning: Buffer) => whole.subarray(0, beginning.length).equals(beginning)

const keyFiles = ['.pawl-key', ...adapters.flatMap((adapter) => adapter.login?.files.map((file) => file.path) ?? [])]

/** C11: where no program runs, nothing lies about that would let one in. */
export function checkKeys(home: CrashHome): string[] {
  const wrong = namesIn(join(home.dir, 'leftovers')).map((name) => `C11: leftovers/${name} is left`)
  for (const session of namesIn(join(home.dir, 'sessions')))
    for (const path of keyFiles)
      if (ifThere(() => readFileSync(join(home.dir, 'sessions', session, path))))
        wrong.push(`C11: ${path} lies in the home of session ${session}`)
  return wrong
}
