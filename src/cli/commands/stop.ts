import type { Command } from 'commander'
import { clientSettings } from '../../config/config.ts'
import { findDaemon } from '../../daemon/machine/run-file.ts'
import { invalid, PawlError } from '../../domain/error.ts'
import type { Runtime } from '../../operations/runtime.ts'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'

interface StopOptions {
  allAgents?: boolean
  reason?: string
}

export function define(command: Command, cli: Cli): void {
  command
    .description("Stop this home's daemon and database. Tasks that run go back to the queue and lose no attempt.")
    .option('--all-agents', 'end every agent of every worker at once instead, and start none until "pawl resume"')
    .option('--reason <text>', 'with --all-agents: why, for whoever finds the queue still')
    .addHelpText('after', '\nExamples\n  pawl stop\n  pawl stop --all-agents --reason "the bill"')
    .action((options: StopOptions) => {
      if (options.allAgents) return stopAll(cli, options.reason)
      if (options.reason !== undefined) throw invalid('--reason goes with --all-agents.')
      return stop(cli)
    })
}

async function stop(cli: Cli): Promise<void> {
  const [{ home }, { stopEverything }] = await Promise.all([
    clientSettings({ cwd: cli.cwd, home: cli.globals.home }),
    import('../../daemon/stop-everything.ts'),
  ])
  const isBundled = await usesBundledDatabase(home)
  const done = await stopEverything(home)
  // The last one to leave the bundled database stops it, and that was the daemon.
  const wentAlong = isBundled && done.daemon === 'stopped' && done.database === 'not_running'
  const stopped = wentAlong ? { ...done, database: 'stopped' as const } : done
  if (cli.globals.json) return cli.json({ home, ...stopped })
  cli.out(`daemon    ${stopped.daemon.replace('_', ' ')}`)
  cli.out(`database  ${stopped.database.replace('_', ' ')}`)
  cli.say(cli.style('faint', `home ${oneLine(home)}`))
}

/** How long agents may take to be gone. */
const allGoneMs = 15_000

async function stopAll(cli: Cli, reason: string | undefined): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const startedAt = performance.now()
    const { halt, stopping } = await runtime.stopAll({ by: 'cli', reason })
    const left = await waitUntilGone(runtime, startedAt + allGoneMs)
    if (cli.globals.json) cli.json({ halt, stopping, left })
    else if (left.length === 0)
      cli.out(
        `${stopping.length === 0 ? 'No agent was running' : `${stopping.length} stopped`}; nothing starts until "pawl resume".`,
      )
    if (left.length === 0) return
    cli.exitCode = 1
    cli.say(
      `Not gone after ${allGoneMs / 1_000} s: ${left.join(', ')}. A worker that is away ends its own agents within 15 s; look with "pawl ls".`,
    )
  })
}

async function waitUntilGone(runtime: Runtime, until: number): Promise<string[]> {
  for (;;) {
    const { items } = await runtime.listTasks({ states: ['running'], limit: 200 })
    if (items.length === 0 || performance.now() > until) return items.map(({ id }) => id)
    await new Promise((again) => setTimeout(again, 100))
  }
}

async function usesBundledDatabase(home: string): Promise<boolean> {
  const daemon = await findDaemon(home)
  if (!daemon) return false
  const { remoteRuntime } = await import('../connecting/remote.ts')
  const runtime = remoteRuntime(daemon)
  try {
    return (await runtime.health()).database.kind === 'embedded'
  } catch (error) {
    // One that cannot say so can still be stopped.
    if (error instanceof PawlError) return false
    throw error
  } finally {
    runtime.close()
  }
}
