import { type Command, Option } from 'commander'
import { type Role, roles } from '../../domain/auth/role.ts'
import { invalid } from '../../domain/error.ts'
import { withConnection } from '../connecting/connect.ts'
import { findTask } from '../finding/find-task.ts'
import type { Cli } from '../terminal/cli.ts'

interface CreateOptions {
  user?: string
  hook?: boolean
  agent?: string
  role?: Role
  name?: string
  days?: number
}

export function define(command: Command, cli: Cli): void {
  command
    .description('Make a token and print it, this once: only its hash is kept.')
    .option('--user <name>', 'whose it is; yours if left out')
    .addOption(new Option('--role <role>', "less than the user's own").choices(roles))
    .option('--hook', 'it may only hand in tasks')
    .option('--agent <task>', 'it may only read this running task, and ends with its run')
    .option('--name <text>', 'what it is for')
    .option('--days <count>', 'how long it is good; 90 if left out, 0 for ever', parseDays)
    .addHelpText('after', '\nExample\n  pawl token create --name laptop')
    .action((options: CreateOptions) => create(cli, options))
}

async function create(cli: Cli, { user, hook, agent, role, name, days }: CreateOptions): Promise<void> {
  if (hook && agent !== undefined) throw invalid('Either --hook or --agent.')
  await withConnection(cli, { work: 'none' }, async ({ runtime, entrance }) => {
    const task = agent === undefined ? undefined : await findTask(runtime, agent)
    const kind = hook ? 'hook' : task === undefined ? 'user' : 'agent'
    const made = await entrance.createToken(
      {
        kind,
        ...(user === undefined ? {} : { user }),
        ...(role === undefined ? {} : { role }),
        ...(name === undefined ? {} : { name }),
        ...(task === undefined ? {} : { task }),
        ...(days === undefined ? {} : { expiresInDays: days }),
      },
      { by: 'cli' },
    )
    if (cli.globals.json) return cli.json(made)
    cli.out(made.token)
    cli.say(
      `${made.id}, for ${made.user}, ${made.expiresAt === null ? 'for ever' : `until ${made.expiresAt.slice(0, 10)}`}. It is not shown again.`,
    )
  })
}

function parseDays(written: string): number {
  if (!/^\d{1,4}$/.test(written) || Number(written) > 3650) throw invalid('--days must be a whole number from 0 to 3650.')
  return Number(written)
}
