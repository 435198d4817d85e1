import { resolve } from 'node:path'
import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { nameSources } from '../terminal/source-places.ts'
import { print } from '../terminal/terminal.ts'

interface Options {
  workspace?: string
  allowHome?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Let another program hand in tasks and read what became of them, by the Model Context Protocol (MCP) over standard input and output. Programs start this themselves; messages for people go to standard error.',
    )
    .option('--workspace <folder>', 'where tasks work that name no folder; an empty one of their own if left out')
    .option('--allow-home', 'that folder may be a home folder or one above; keys and logins in it stay covered')
    .addHelpText(
      'after',
      `
Example
  pawl mcp --workspace .

In the settings of programs that read such a file:
  { "mcpServers": { "pawl": { "command": "pawl", "args": ["mcp", "--workspace", "."] } } }
  { "mcpServers": { "pawl": { "url": "http://127.0.0.1:7295/mcp", "headers": { "Authorization": "Bearer <token>" } } } }

The second is the daemon itself, over HTTP, with a token of "pawl token create". docs/mcp.md has the commands of several programs.
Without a daemon the tasks run in this process, and go on later if it ends before they do.`,
    )
    .action(async ({ workspace, allowHome }: Options) => {
      cli.exitCode = await serve(cli, {
        workspace: workspace === undefined ? undefined : resolve(cli.cwd, workspace),
        allowHome,
      })
    })
}

async function serve(cli: Cli, place: { workspace: string | undefined; allowHome: boolean | undefined }): Promise<number> {
  const [{ serveMcpStdio }, { createLog }, { version }] = await Promise.all([
    import('../../surfaces/mcp/stdio.ts'),
    import('../../base/log.ts'),
    import('../../base/version.ts'),
  ])
  const log = createLog({
    level: cli.globals.quiet ? 'error' : 'warn',
    format: 'text',
    write: (line) => print(process.stderr, `${nameSources(line)}\n`),
    now: () => Date.now(),
  })
  return withConnection(cli, { work: 'own' }, async ({ runtime, isDaemon, adopt }) => {
    const server = serveMcpStdio({ runtime, log, version, ...place, ...(isDaemon ? {} : { adopt }) })
    await Promise.race([server.closed, stopSignal()])
    await server.close()
    return 0
  })
}

const stopSignal = () =>
  new Promise<void>((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop())
  })
