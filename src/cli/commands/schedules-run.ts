import type { Command } from 'commander'
import { unavailable } from '../../domain/error.ts'
import { withConnection } from '../connecting/connect.ts'
import { findSchedule } from '../requests/schedule-request.ts'
import type { Cli } from '../terminal/cli.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Fire a schedule now, out of turn, and print the id of the task. When it is due next stays as it is.')
    .argument('<schedule>', 'its name, its id, or the end of that')
    .addHelpText('after', '\nExample\n  pawl schedules run morning')
    .action((named: string) => run(cli, named))
}

async function run(cli: Cli, named: string): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime, isDaemon }) => {
    const schedule = await runtime.runSchedule(await findSchedule(runtime, named), { by: 'cli' })
    if (cli.globals.json) return cli.json(schedule)
    const tick = schedule.ticks.find(({ manual }) => manual)
    if (tick?.state === 'failed') throw unavailable(tick.detail ?? 'The task could not be made.')
    if (tick?.task) cli.out(tick.task)
    else cli.say('It waits until the task of an earlier tick has ended.')
    if (!isDaemon) cli.say('No daemon is running: "pawl serve" will run it.')
  })
}
