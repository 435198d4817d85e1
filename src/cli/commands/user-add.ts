import { type Command, Option } from 'commander'
import { type Role, roles } from '../../domain/auth/role.ts'
import { withConnection } from '../connecting/connect.ts'
import { type Limit, limitOf, parseLimit } from '../requests/user-limits.ts'
import type { Cli } from '../terminal/cli.ts'

interface AddOptions {
  role: Role
  slots?: Limit
  dailyTasks?: Limit
}

export function define(command: Command, cli: Cli): void {
  command
    .description('Let somebody in. "pawl token create --user <name>" makes what they come in by.')
    .argument('<name>', 'lower-case letters, digits, dot, dash and underscore')
    .addOption(new Option('--role <role>', 'what they may do').choices(roles).default('operator'))
    .option('--slots <count>', 'how many of their tasks may run at once', parseLimit('--slots', 1))
    .option('--daily-tasks <count>', 'how many tasks they may ask for per day (UTC)', parseLimit('--daily-tasks', 0))
    .addHelpText('after', '\nExample\n  pawl user add ada --role operator')
    .action((name: string, options: AddOptions) => add(cli, name, options))
}

async function add(cli: Cli, name: string, { role, slots, dailyTasks }: AddOptions): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ entrance }) => {
    const user = await entrance.createUser({ name, role, slots: limitOf(slots), dailyTasks: limitOf(dailyTasks) }, { by: 'cli' })
    if (cli.globals.json) return cli.json(user)
    cli.out(user.name)
    cli.say(`Next: pawl token create --user ${user.name}`)
  })
}
