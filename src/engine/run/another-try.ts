import type { AgentHealth } from '../../agents/port.ts'
import type { Db } from '../../store/database.ts'
import { runsOfTask } from '../../store/runs.ts'
import type { RunRow } from '../../store/tables.ts'
import { RunFailure } from '../base/failure.ts'

/**
 * A program that crashed is tried again, unless asking it has shown meanwhile that it is not well: then no try is spent on it. A first run is left to show for
 * itself, because a program may work although it cannot be asked.
 */
export async function assertWorthAnotherTry(db: Db, run: RunRow, program: AgentHealth): Promise<void> {
  if (program.healthy || run.attempt === 1) return
  const before = (await runsOfTask(db, run.task_id)).filter(({ fence }) => fence < run.fence).at(-1)
  if (before?.category !== 'crashed') return
  const fix = program.fix === undefined ? '' : ` ${program.fix}`
  throw new RunFailure(
    'bad_config',
    `The program of "${run.agent}" crashed and is not well: ${program.detail}.${fix}`.replace('..', '.'),
  )
}
