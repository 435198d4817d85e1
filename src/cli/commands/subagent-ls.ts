import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description("List the subagents that runs can be given: everybody's and your own.")
    .addHelpText('after', '\nExample\n  pawl subagent ls')
    .action(() => list(cli))
}

async function list(cli: Cli): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const items = await runtime.listSubagents({})
    if (cli.globals.json) return cli.json({ items, next: null })
    if (items.length === 0) return cli.say('There are none. A subagent is a file NAME.md, in subagents/ of the home of Pawl.')
    const rows = items.map(({ name, scope, problem, description }) => [
      oneLine(name),
      scope,
      oneLine(problem === null ? description : `NOT GIVEN: it ${problem}`),
    ])
    const width = process.stdout.isTTY ? process.stdout.columns : undefined
    cli.out(table(['SUBAGENT', 'SCOPE', 'DESCRIPTION'], rows, width))
    cli.say('Which of them a run is given is said by "subagents" of its profile.')
  })
}
