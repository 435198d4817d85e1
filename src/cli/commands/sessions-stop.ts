import type { Command } from 'commander'
import { isEnded } from '../../domain/task/task.ts'
import { withConnection } from '../connecting/connect.ts'
import { findSession } from '../finding/find-session.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatState } from '../text/format.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Stop whatever runs on a session now; its tasks that wait stay.')
    .argument('<session>', 'its id, the end or beginning of it, or "last"')
    .option('--now', 'without grace')
    .addHelpText('after', '\nExample\n  pawl sessions stop last')
    .action((named: string, options: { now?: boolean }) => stop(cli, named, options.now === true))
}

async function stop(cli: Cli, named: string, now: boolean): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const done = await runtime.stopSession(await findSession(runtime, named), { by: 'cli', now })
    if (cli.globals.json) return cli.json(done)
    const { session, stopped } = done
    if (stopped === null) cli.say(`Nothing runs on session ${session}.`)
    else if (isEnded(stopped.state)) cli.say(`Task ${stopped.id} is ${formatState(stopped.state)}.`)
    else cli.say(`Task ${stopped.id} is being stopped; "pawl logs -f ${stopped.id}" shows how.`)
  })
}
