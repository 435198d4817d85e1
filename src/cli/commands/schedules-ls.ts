import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { sayHealth, sayTick } from '../terminal/schedule-screen.ts'
import { formatTime, shortId } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('List schedules, those that are due next first. One whose last tick failed or brought nothing is shown in red.')
    .addHelpText('after', '\nExample\n  pawl schedules ls --json')
    .action(() => list(cli))
}

async function list(cli: Cli): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime, isDaemon }) => {
    const [found, health] = await Promise.all([runtime.listSchedules(), runtime.health()])
    const { refused } = health.schedules
    if (cli.globals.json) return cli.json({ items: found, next: null, refused })
    for (const { name, source, detail } of refused)
      cli.say(cli.style('bad', `${oneLine(name)} of ${oneLine(source)} is not in force: ${oneLine(detail, 300)}`))
    if (found.length === 0) return cli.say('There are no schedules; make one with: pawl schedules add --cron "0 7 * * 1-5" "…"')
    const rows = found.map((schedule) => [
      schedule.name ?? shortId(schedule.id),
      schedule.state,
      sayHealth(cli, schedule),
      schedule.lastTick === null ? '-' : sayTick(schedule.lastTick),
      schedule.nextAt === null ? '-' : formatTime(schedule.nextAt),
      oneLine(schedule.says, 40),
      oneLine(schedule.prompt, 80),
    ])
    const width = process.stdout.isTTY ? process.stdout.columns : undefined
    cli.out(table(['SCHEDULE', 'STATE', 'HEALTH', 'LAST', 'NEXT', 'WHEN', 'PROMPT'], rows, width, ['WHEN', 'LAST', 'STATE']))
    for (const { id, name, health } of found)
      if (!health.healthy) cli.say(cli.style('bad', `${name ?? shortId(id)}: ${oneLine(health.detail ?? '', 300)}`))
    if (!isDaemon) cli.say('No daemon is running: nothing is fired until "pawl serve" runs.')
  })
}
