import type { CrashHome } from './home.ts'
import { pause } from './home.ts'
import type { Acknowledged } from './scenario.ts'

/** Of a task with checks: the run that was settled has proved the work once, whatever died before, and the chain is whole. */
export async function wrongWithProof(home: CrashHome, { kind, id }: Acknowledged): Promise<string[]> {
  if (kind !== 'checked') return []
  const verdict = await home.ask((client) => client.verifyTask(id))
  const ofRuns = verdict.items.filter(({ run }) => run !== null)
  return [
    ...(verdict.verified ? [] : [`C3: the work of a task whose checks pass is not verified: ${verdict.why}`]),
    ...(ofRuns.length === 1 ? [] : [`C4: the one check of the task is in its proof ${ofRuns.length} times`]),
  ]
}

/** Has the checks of a task run again, and waits until nobody runs them any more. */
export async function recheck(home: CrashHome, id: string): Promise<void> {
  await home.ask((client) => client.recheckTask(id))
  for (let tries = 0; tries < 1_200; tries++) {
    if (!(await home.ask((client) => client.listChecks(id))).isChecking) return
    await pause(25)
  }
  throw new Error(`C9: the checks of ${id} did not end within 30 s`)
}
