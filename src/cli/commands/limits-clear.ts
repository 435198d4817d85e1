import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Forget that the account of an agent is at its limit: you have bought more, say. Its tasks go on one after another; the first that meets the limit again stops the rest.',
    )
    .argument('<agent>', 'an agent, as "pawl limits ls" shows it')
    .addHelpText('after', '\nExample\n  pawl limits clear reviewer')
    .action((agent: string) => clear(cli, agent))
}

async function clear(cli: Cli, agent: string): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime, isDaemon }) => {
    const items = await runtime.clearLimits(agent, { by: 'cli' })
    if (cli.globals.json) return cli.json({ items, next: null })
    for (const { account, waiting } of items)
      cli.say(`Forgotten: ${oneLine(account)}. ${waiting === 1 ? '1 task waits' : `${waiting} tasks wait`} for it.`)
    if (!isDaemon) cli.say('Nothing runs them meanwhile: "pawl serve" goes on with them.')
  })
}
