import { type Command, Option } from 'commander'
import { type Role, roles } from '../../domain/auth/role.ts'
import { invalid } from '../../domain/error.ts'
import { withConnection } from '../connecting/connect.ts'
import { type Limit, limitOf, parseLimit } from '../requests/user-limits.ts'
import type { Cli } from '../terminal/cli.ts'

interface SetOptions {
  role?: Role
  slots?: Limit
  dailyTasks?: Limit
  disable?: boolean
  enable?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description('Change what a user may do. Takes effect at once; what is left out stays.')
    .argument('<name>', 'the user')
    .addOption(new Option('--role <role>', 'what they may do').choices(roles))
    .option('--slots <count>', 'how many of their tasks may run at once, or "none" for no limit', parseLimit('--slots', 1))
    .option('--daily-tasks <count>', 'how many tasks per day (UTC), or "none" for no limit', parseLimit('--daily-tasks', 0))
    .option('--disable', 'their tokens open nothing until --enable')
    .option('--enable', 'their tokens open what they did')
    .addHelpText('after', '\nExample\n  pawl user set ada --role viewer')
    .action((name: string, options: SetOptions) => set(cli, name, options))
}

async function set(cli: Cli, name: string, { role, slots, dailyTasks, disable, enable }: SetOptions): Promise<void> {
  if (disable && enable) throw invalid('Either --disable or --enable.')
  const changes = {
    role,
    slots: limitOf(slots),
    dailyTasks: limitOf(dailyTasks),
    isDisabled: disable || enable ? disable === true : undefined,
  }
  if (Object.values(changes).every((change) => change === undefined))
    throw invalid('Say what to change: --role, --slots, --daily-tasks, --disable or --enable.')
  await withConnection(cli, { work: 'none' }, async ({ entrance }) => {
    const user = await entrance.setUser(name, changes, { by: 'cli' })
    if (cli.globals.json) return cli.json(user)
    cli.say(`${user.name} is ${user.role}${user.isDisabled ? ', disabled' : ''}.`)
  })
}
