import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description("List the skills that runs can be given: everybody's and your own.")
    .addHelpText('after', '\nExample\n  pawl skill ls')
    .action(() => list(cli))
}

async function list(cli: Cli): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const items = await runtime.listSkills({})
    if (cli.globals.json) return cli.json({ items, next: null })
    if (items.length === 0) return cli.say('There are none. A skill is a folder with a SKILL.md, in skills/ of the home of Pawl.')
    const rows = items.map(({ name, scope, kind, problem, description }) => [
      oneLine(name),
      scope,
      kind,
      oneLine(problem === null ? description : `NOT GIVEN: it ${problem}`),
    ])
    const width = process.stdout.isTTY ? process.stdout.columns : undefined
    cli.out(table(['SKILL', 'SCOPE', 'KIND', 'DESCRIPTION'], rows, width))
    cli.say('Which of them a run is given is said by "skills" of its profile.')
  })
}
