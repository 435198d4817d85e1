import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatTime } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

interface BrowserOptions {
  rm?: string
  test?: string
}

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'List the browsers of yours that are told what happens. One is added in the browser itself: "Tell this browser" in the inbox.',
    )
    .option('--test <id>', 'send it a made-up message now')
    .option('--rm <id>', 'tell it nothing more')
    .addHelpText('after', '\nExample\n  pawl notifications browsers')
    .action((options: BrowserOptions) => browsers(cli, options))
}

async function browsers(cli: Cli, { rm, test }: BrowserOptions): Promise<void> {
  const caller = { by: 'cli' }
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    if (rm !== undefined) {
      await runtime.removePush(rm, caller)
      return cli.globals.json ? cli.json({ removed: rm }) : cli.say(`${rm} is told nothing more.`)
    }
    if (test !== undefined) {
      const came = await runtime.testPush(test, caller)
      if (!came.delivered) cli.exitCode = 1
      return cli.globals.json ? cli.json(came) : cli.say(`${came.detail} (${came.ms} ms)`)
    }
    const { items } = await runtime.getPush(caller)
    if (cli.globals.json) return cli.json({ items })
    if (items.length === 0)
      return cli.say('None. Open the inbox of the page in a browser ("pawl open") and choose "Tell this browser".')
    const rows = items.map(({ id, label, service, events, createdAt }) => [
      id,
      oneLine(label),
      oneLine(service),
      events.join(', '),
      formatTime(createdAt),
    ])
    cli.out(
      table(['BROWSER', 'NAME', 'SERVICE', 'EVENTS', 'SINCE'], rows, process.stdout.isTTY ? process.stdout.columns : undefined),
    )
  })
}
