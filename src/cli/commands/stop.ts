import type { Command } from 'commander'
import { clientSettings } from '../../config.ts'
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
  const stopped = await stopEverything(home)
  if (cli.globals.json) return cli.json({ home, ...stopped })
  cli.out(`daemon    ${stopped.daemon.replace('_', ' ')}`)
  cli.out(`database  ${stopped.database.replace('_', ' ')}`)
  cli.say(cli.style('faint', `home ${oneLine(home)}`))
}
