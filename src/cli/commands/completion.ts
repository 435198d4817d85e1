import { Argument, type Command } from 'commander'
import { type Shell, scripts, shells } from '../parsing/completion-scripts.ts'
import type { Cli } from '../terminal/cli.ts'
import { printData } from '../terminal/terminal.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Print what a shell needs to complete commands, options, and the ids and names of a running daemon.')
    .addArgument(new Argument('<shell>', 'which one').choices(shells))
    .addHelpText(
      'after',
      `
Examples
  pawl completion bash > completion.bash && . ./completion.bash
  pawl completion zsh > _pawl
  pawl completion fish > pawl.fish

To keep it: bash ~/.local/share/bash-completion/completions/pawl, zsh a file "_pawl" in a folder of $fpath,
fish ~/.config/fish/completions/pawl.fish.`,
    )
    .action((shell: Shell) => {
      if (cli.globals.json) cli.json({ shell, script: scripts[shell] })
      else printData(scripts[shell])
    })
}
