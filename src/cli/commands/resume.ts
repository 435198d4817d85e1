import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { withConnection } from '../connect.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Let the queue go on after "pawl stop --all-agents". Tasks that were ended stay ended; "pawl retry" queues one again.',
    )
    .action(() => resume(cli))
}

async function resume(cli: Cli): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const done = await runtime.resume({ by: 'cli' })
    if (cli.globals.json) return cli.json(done)
    cli.say(done.resumed ? 'The queue goes on.' : 'Nothing had been stopped.')
  })
}
