import type { Command } from 'commander'
import { describedCommand } from '../parsing/command.ts'
import type { Commands } from '../parsing/command-table.ts'
import { groupHelp, mainHelp, unknownCommand } from '../parsing/help.ts'
import type { Cli } from '../terminal/cli.ts'
import { commands } from './index.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Say more about a command, as its --help does; without one, list them all.')
    .argument('[command...]', 'such as "run" or "task add"')
    .addHelpText('after', '\nExamples\n  pawl help run\n  pawl help task add')
    .action(async (words: string[]) => {
      const text = await helpOf(words, cli)
      if (cli.globals.json) cli.json({ command: ['pawl', ...words].join(' '), help: text })
      else cli.out(text)
    })
}

async function helpOf(words: readonly string[], cli: Cli): Promise<string> {
  let at: { path: string[]; commands: Commands } = { path: ['pawl'], commands }
  for (const word of words) {
    const entry = Object.hasOwn(at.commands, word) ? at.commands[word]! : undefined
    if (!entry) throw unknownCommand(word, at)
    const path = [...at.path, word]
    if (!entry.commands) return textOf(describedCommand(await entry.load!(), cli, path.join(' ')))
    at = { path, commands: entry.commands }
  }
  return at.path.length === 1 ? mainHelp(commands) : groupHelp(at.path.join(' '), at.commands)
}

/** What is said after the options belongs to it, which only the printing of help knows. */
function textOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (part) => (text += part) })
  command.outputHelp()
  return text.trimEnd()
}
