import type { Command } from 'commander'
import { invalid } from '../../domain/error.ts'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'

interface RetryOptions {
  all?: boolean
  target?: string
}

export function define(command: Command, cli: Cli): void {
  command
    .description('Send what was given up once more, or what waits for its next try at once.')
    .argument('[notification]', 'its id')
    .option('--all', 'all that were given up')
    .option('--target <name>', 'all that were given up for this notification of the settings')
    .addHelpText('after', '\nExample\n  pawl notifications retry --target ops')
    .action((id: string | undefined, options: RetryOptions) => retry(cli, id, options))
}

async function retry(cli: Cli, id: string | undefined, { all, target }: RetryOptions): Promise<void> {
  if ([id, all, target].filter((one) => one !== undefined).length !== 1)
    throw invalid('Name one notification, or say --all or --target NAME.')
  await withConnection(cli, { work: 'none' }, async ({ runtime, isDaemon }) => {
    const { retried } = await runtime.retryNotifications({ id, target }, { by: 'cli' })
    if (cli.globals.json) return cli.json({ retried })
    if (retried.length === 0) return cli.say('Nothing was given up.')
    const count = retried.length === 1 ? 'One notification is' : `${retried.length} notifications are`
    cli.out(`${count} sent again${isDaemon ? '' : ' as soon as "pawl serve" runs'}.`)
  })
}
