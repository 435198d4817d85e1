import type { Command } from 'commander'
import { clientSettings } from '../../config.ts'
import { PawlError } from '../../domain/error.ts'
import { findDaemon } from '../../run-file.ts'
import type { Cli } from '../cli.ts'
import { oneLine } from '../plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description("Stop this home's daemon and database. Tasks that run go back to the queue and lose no attempt.")
    .action(() => stop(cli))
}

async function stop(cli: Cli): Promise<void> {
  const [{ home }, { stopEverything }] = await Promise.all([
    clientSettings({ cwd: cli.cwd, home: cli.globals.home }),
    import('../../daemon.ts'),
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

async function usesBundledDatabase(home: string): Promise<boolean> {
  const daemon = await findDaemon(home)
  if (!daemon) return false
  const { remoteRuntime } = await import('../remote.ts')
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
