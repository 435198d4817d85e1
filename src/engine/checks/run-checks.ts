import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { fp } from '../../base/failpoint.ts'
import type { NewEvent } from '../../domain/event/event.ts'
import type { Check } from '../../domain/task/spec.ts'
import type { RanCheck } from '../../store/checks.ts'
import type { FailedCheck } from '../base/retry.ts'
import type { TreeHash } from '../workspace/tree-hash.ts'
import { type CheckOptions, runCheck } from './run-check.ts'

/** What the checks of a task said of the work. */
export interface ChecksResult {
  /** All passed, and they are bound to a tree. */
  readonly passed: boolean
  readonly failed: readonly FailedCheck[]
  readonly ran: readonly RanCheck[]
  readonly tree: TreeHash
}

export interface ChecksOptions extends Pick<CheckOptions, 'launch' | 'signal' | 'redactor' | 'isHeld'> {
  readonly commands: readonly Check[]
  readonly clock: Clock
  readonly hashTree: () => Promise<TreeHash>
  /** Where their outputs are kept. */
  readonly folder: string
  readonly emit: (event: NewEvent) => unknown
}

/** One after the other, all of them, also after one that failed: whoever mends the work wants to know everything at once. Rejects if it is stopped. */
export async function runChecks(options: ChecksOptions): Promise<ChecksResult> {
  const { commands, clock, emit, signal } = options
  const ran: RanCheck[] = []
  const failed: FailedCheck[] = []
  let tree = await options.hashTree()
  for (const [i, check] of commands.entries()) {
    signal.throwIfAborted()
    const number = i + 1
    const name = check.name ?? nameOf(check.run)
    emit({ type: 'check.started', data: { number, of: commands.length, name, command: check.run } })
    await fp('check.run')
    const startedAt = new Date(clock.now())
    const since = clock.monotonic()
    const { exitCode, why, outputDigest, tail } = await runCheck({
      ...options,
      command: check.run,
      timeoutMs: check.timeoutMs,
      file: join(options.folder, `check-${number}.log`),
    })
    signal.throwIfAborted()
    const before = tree
    tree = await options.hashTree()
    const passed = exitCode === 0 && why === null
    const endedAt = new Date(clock.now())
    ran.push({
      name,
      command: check.run,
      exitCode,
      why,
      outputDigest,
      treeBefore: before.hash,
      tree: tree.hash,
      startedAt,
      endedAt,
    })
    if (!passed) failed.push({ name, exitCode, output: why === null ? tail : `${tail}\n[${why}]`.trimStart() })
    const data = { number, name, passed, exitCode, outputDigest, tree: tree.hash, changedTree: before.hash !== tree.hash }
    emit({ type: 'check.ended', data: { ...data, durationMs: clock.monotonic() - since, ...(why === null ? {} : { why }) } })
  }
  await fp('check.ran')
  return { passed: failed.length === 0 && tree.hash !== null, failed, ran, tree }
}

/** The command itself, as one line that is not too long. */
const nameOf = (command: string) => {
  const line = command.trim().replaceAll(/\s+/g, ' ')
  return line.length <= 80 ? line : `${line.slice(0, 79)}…`
}
