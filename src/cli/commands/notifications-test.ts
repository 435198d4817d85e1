import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { plain } from '../text/plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Send a made-up notification now and say what came of it. Ends with 1 if it was not delivered.')
    .argument('<name>', 'of the notification in the settings')
    .addHelpText('after', '\nExample\n  pawl notifications test ops')
    .action(async (name: string) => {
      cli.exitCode = await test(cli, name)
    })
}

async function test(cli: Cli, name: string): Promise<number> {
  return withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const result = await runtime.testNotification(name, { by: 'cli' })
    if (cli.globals.json) cli.json(result)
    else cli.out(`${result.delivered ? 'Delivered' : 'Not delivered'} in ${result.ms} ms: ${plain(result.detail)}`)
    return result.delivered ? 0 : 1
  })
}
