import type { Command } from 'commander'
import { invalid } from '../../domain/error.ts'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Let the queue go on after "pawl stop --all-agents". Tasks that were ended stay ended; "pawl retry" queues one again.',
    )
    // Many write a task here, as "pawl show ID" is short for "pawl task show ID".
    .argument('[task]', 'none: it is about the whole queue; one that is parked goes on with "pawl task resume"')
    .addHelpText('after', '\nExample\n  pawl resume')
    .action((task: string | undefined) => {
      if (task !== undefined)
        throw invalid(`"pawl resume" lets the whole queue go on; for one task write: pawl task resume ${oneLine(task, 40)}`)
      return resume(cli)
    })
}

async function resume(cli: Cli): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const done = await runtime.resume({ by: 'cli' })
    if (cli.globals.json) return cli.json(done)
    cli.say(done.resumed ? 'The queue goes on.' : 'Nothing had been stopped.')
  })
}
