import { commands } from '../../src/cli/commands/index.ts'
import { describedCommand } from '../../src/cli/parsing/command.ts'
import type { Commands } from '../../src/cli/parsing/command-table.ts'
import { Cli } from '../../src/cli/terminal/cli.ts'

/** The examples of every help text, by the command whose help shows them. */
export async function helpExamples(): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  const visit = async (table: Commands, path: string): Promise<void> => {
    for (const [name, entry] of Object.entries(table)) {
      if (entry.commands) await visit(entry.commands, `${path} ${name}`)
      else {
        let text = ''
        const command = describedCommand(await entry.load!(), new Cli('/'), `${path} ${name}`)
        command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp()
        const block = /\nExamples?\n((?: {2}\S.*\n?)+)/.exec(text)?.[1] ?? ''
        found.set(
          `${path} ${name}`,
          block.split('\n').flatMap((line) => line.trim() || []),
        )
      }
    }
  }
  await visit(commands, 'pawl')
  return found
}
