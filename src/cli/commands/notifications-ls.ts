import type { Command } from 'commander'
import { Option } from 'commander'
import type { NotificationState } from '../../domain/notification/notification.ts'
import { withConnection } from '../connecting/connect.ts'
import { findTask } from '../finding/find-task.ts'
import { parseCount, takePages } from '../finding/pages.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatTime, shortId } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

interface ListOptions {
  state?: NotificationState
  target?: string
  task?: string
  limit: number
  all?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description('List what others were told or are to be told, newest first.')
    .addOption(new Option('--state <state>', 'only those in this state').choices(['pending', 'sending', 'sent', 'dead']))
    .option('--target <name>', 'only those for this notification of the settings')
    .option('--task <task>', 'only those of this task: its id, the end or beginning of it, or "last"')
    .option('-n, --limit <count>', 'at most so many', parseCount, 50)
    .option('--all', 'every one, however many')
    .addHelpText('after', '\nExample\n  pawl notifications ls --state dead')
    .action((options: ListOptions) => list(cli, options))
}

async function list(cli: Cli, { state, target, task, limit, all }: ListOptions): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const found = task === undefined ? undefined : await findTask(runtime, task)
    const page = await takePages(all ? Number.POSITIVE_INFINITY : limit, (part) =>
      runtime.listNotifications({ state, target, task: found, ...part }),
    )
    if (cli.globals.json) return cli.json(page)
    const isNarrowed = [state, target, task].some((only) => only !== undefined)
    if (page.items.length === 0)
      return cli.say(
        isNarrowed ? 'None is like that.' : 'There are none. Whom to tell stands under "notifications" in the settings.',
      )
    const rows = page.items.map((item) => [
      item.id,
      oneLine(item.target),
      item.event,
      shortId(item.task),
      item.state,
      String(item.attempts),
      formatTime(item.sentAt ?? item.createdAt),
      oneLine(item.lastError ?? '', 80),
    ])
    const width = process.stdout.isTTY ? process.stdout.columns : undefined
    cli.out(
      table(['NOTIFICATION', 'TARGET', 'EVENT', 'TASK', 'STATE', 'TRIES', 'AT', 'LAST ERROR'], rows, width, ['TRIES', 'AT']),
    )
    if (page.next !== null) cli.say(`More: add -n ${limit * 5}, or --all.`)
    if (page.items.some((item) => item.state === 'dead'))
      cli.say('Send what was given up once more: pawl notifications retry --all')
  })
}
