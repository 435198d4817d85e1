import { Readable, Writable } from 'node:stream'
import { type Command, Option } from 'commander'
import type { Cli } from '../terminal/cli.ts'
import { nameSources } from '../terminal/source-places.ts'
import { print } from '../terminal/terminal.ts'

interface Options {
  agent?: string
  allowHome?: boolean
  whenGone: 'continue' | 'cancel'
}

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Let an editor drive an agent through Pawl, over standard input and output, by the Agent Client Protocol (ACP). Editors start this themselves; messages for people go to standard error.',
    )
    .option('--agent <name>', 'who does the work of new sessions; as the settings of the folder say if left out')
    .option('--allow-home', 'sessions may work in a home folder or one above; keys and logins in it stay covered')
    .addOption(
      new Option('--when-gone <what>', 'what becomes of running tasks when the editor goes away')
        .choices(['continue', 'cancel'])
        .default('continue'),
    )
    .addHelpText(
      'after',
      '\nExample\n  pawl acp --agent demo\n\nIn the settings of an editor:\n  { "agent_servers": { "Pawl": { "command": "pawl", "args": ["acp", "--agent", "demo"] } } }\n\nA session of the editor is a session of Pawl ("pawl sessions ls"), a prompt is a task ("pawl ls"), a mode is a profile.',
    )
    .action((options: Options) => serve(cli, options))
}

async function serve(cli: Cli, { agent, allowHome, whenGone }: Options): Promise<void> {
  const [{ ndJsonStream }, { serveAcp }, { openAcpHome }, { createLog }, { version }] = await Promise.all([
    import('@agentclientprotocol/sdk'),
    import('../../surfaces/acp/agent.ts'),
    import('../connecting/acp-home.ts'),
    import('../../base/log.ts'),
    import('../../base/version.ts'),
  ])
  const home = { ...(await openAcpHome(cli)), allowHome }
  const log = createLog({
    level: cli.globals.quiet ? 'error' : 'warn',
    format: cli.globals.json ? 'json' : 'text',
    write: (line) => print(process.stderr, `${nameSources(line)}\n`),
    now: () => Date.now(),
  })
  try {
    const stream = ndJsonStream(
      Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
      Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    )
    const { closed } = serveAcp({ home, stream, agent, version, whenGone, log })
    await Promise.race([closed, stopSignal()])
  } finally {
    await home.close()
  }
}

const stopSignal = () =>
  new Promise<void>((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop())
  })
