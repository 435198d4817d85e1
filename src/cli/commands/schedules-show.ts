import type { Command } from 'commander'
import type { ScheduleView } from '../../domain/schedule/schedule.ts'
import { type Connection, withConnection } from '../connecting/connect.ts'
import { findSchedule } from '../requests/schedule-request.ts'
import type { Cli } from '../terminal/cli.ts'
import { describeSchedule } from '../terminal/schedule-screen.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Show one schedule: when it is due next, and what came of its last ticks.')
    .argument('<schedule>', 'its name, its id, or the end of that')
    .addHelpText('after', '\nExample\n  pawl schedules show morning')
    .action((named: string) =>
      withConnection(cli, { work: 'none' }, async ({ runtime }) => {
        const schedule = await runtime.getSchedule(await findSchedule(runtime, named))
        if (cli.globals.json) return cli.json(schedule)
        for (const line of describeSchedule(cli, schedule)) cli.out(line)
      }),
    )
}

/** What every command says that made one or changed it. */
export function sayAdded(cli: Cli, { isDaemon }: Connection, schedule: ScheduleView): void {
  if (cli.globals.json) cli.json(schedule)
  else cli.out(schedule.id)
  const [next] = schedule.next
  if (!cli.globals.json)
    cli.say(schedule.state === 'paused' ? 'It is paused.' : next ? `Due next: ${next.local}.` : `Due ${schedule.says}.`)
  if (!isDaemon) cli.say('No daemon is running: nothing is fired until "pawl serve" runs.')
}
