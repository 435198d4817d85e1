import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import { workspaceOf } from '../requests/task-request.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatBytes } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'

interface AdoptOptions {
  agent?: string
  workspace?: string
  allowHome?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description('Make a session of a conversation that was begun in the agent program itself, and print its id.')
    .argument('<vendor-id>', 'the id that the program gave to the conversation')
    .option('--agent <name>', 'the agent that goes on with it; left out, each that keeps conversations is asked for it')
    .option('--workspace <dir>', 'where its tasks work; this folder if left out')
    .option('--allow-home', 'that may be a home folder or one above')
    .addHelpText(
      'after',
      "\nExample\n  pawl sessions adopt 0b9e6c1e-4f0a-4c57-9c1d-3c1f2a6d8e70 --agent mine\n\nThe program's own files are copied and stay as they are: what is said from now on in one place is not known in the other.",
    )
    .action((vendorId: string, options: AdoptOptions) => adopt(cli, vendorId, options))
}

async function adopt(cli: Cli, vendorId: string, options: AdoptOptions): Promise<void> {
  const workspace = await workspaceOf(cli.cwd, options.workspace)
  await withConnection(cli, { work: 'none', isForNewTask: true }, async ({ runtime, chooseAgent }) => {
    const agent = options.agent === undefined ? {} : await chooseAgent(options.agent)
    const session = await runtime.adoptSession({ vendorId, workspace, allowHome: options.allowHome, ...agent })
    if (cli.globals.json) return cli.json(session)
    cli.out(session.id)
    cli.say(`Adopted for "${oneLine(session.agent)}" (${formatBytes(session.archivedBytes)}). Go on with it:`)
    cli.say(`  pawl run --session ${session.id} "…"`, { isWrapped: false })
  })
}
