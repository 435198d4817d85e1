import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Put what a run planted back into its workspace: other programs will execute it. What is there now is kept.')
    .argument('<run>', 'its id, as "pawl quarantine ls" shows it')
    .argument('[path]', 'only this path; everything of the run if left out')
    .addHelpText('after', '\nExample\n  pawl quarantine restore r_0123456789abcdefgh')
    .action((run: string, path: string | undefined) => restore(cli, run, path))
}

async function restore(cli: Cli, run: string, path: string | undefined): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const done = await runtime.restoreQuarantine(run, { by: 'cli', path })
    if (cli.globals.json) return cli.json(done)
    for (const restored of done.restored) cli.out(oneLine(restored))
    cli.say('Back in the workspace.')
  })
}
