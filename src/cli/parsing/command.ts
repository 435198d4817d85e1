import { Command, CommanderError } from 'commander'
import { didYouMean } from '../../domain/base/nearest.ts'
import { invalid } from '../../domain/error.ts'
import type { Cli, Globals } from '../terminal/cli.ts'
import type { CommandModule } from './command-table.ts'

/** Parses the arguments of one command and carries it out; answers the exit code. */
export async function runCommand(module: CommandModule, argv: string[], cli: Cli, name: string): Promise<number> {
  const command = describedCommand(module, cli, name)
  command.hook('preAction', () => {
    cli.globals = command.opts<Globals>()
  })
  try {
    await command.parseAsync(argv, { from: 'user' })
    return cli.exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return 0
    throw usageError(error, command, name)
  }
}

/** A command with all its options, as its help shows it. */
export function describedCommand(module: CommandModule, cli: Cli, name: string): Command {
  const command = new Command(name)
  module.define(command, cli)
  addGlobals(command)
  // Errors are thrown and said in our own words; help goes to stdout.
  return command
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .configureHelp({ helpWidth: 100 })
}

function addGlobals(command: Command): void {
  command
    .optionsGroup('Options of every command:')
    .option('--json', 'print JSON on stdout')
    .option('--home <dir>', "Pawl's own folder (PAWL_HOME)")
    .option('--config <file>', 'read this file instead of the nearest pawl.yaml (PAWL_CONFIG)')
    .option('--database-url <url>', 'use this PostgreSQL instead of the bundled one (PAWL_DATABASE_URL)')
    .option('--trust', "trust this folder's pawl.yaml for now (PAWL_TRUST=1)")
    .option('--quiet', 'say nothing but results and errors')
    .option('--no-color', 'no colours (NO_COLOR)')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
}

/** The parser's complaint as a sentence that names the cure. */
function usageError(error: CommanderError, command: Command, name: string) {
  const quoted = /'([^']*)'/.exec(error.message)?.[1] ?? ''
  const see = ` See "${name} --help".`
  switch (error.code) {
    case 'commander.unknownOption': {
      const known = command.options.flatMap((option) => [option.long, option.short].filter((flag) => flag !== undefined))
      return invalid(`Unknown option "${quoted}"${didYouMean(quoted, [...known, '--help'])}${see}`)
    }
    case 'commander.excessArguments':
      return invalid(`"${name}" takes fewer arguments.${see}`)
    case 'commander.missingArgument':
      return invalid(`"${name}" needs ${article(quoted)}.${see}`)
    case 'commander.optionMissingArgument':
      return invalid(`The option "${quoted.split(/[ ,]/)[0]}" needs a value.${see}`)
    case 'commander.missingMandatoryOptionValue':
      return invalid(`"${name}" needs the option "${quoted.split(/[ ,]/)[0]}".${see}`)
    default: {
      const said = error.message.replace(/^error: /, '')
      return invalid(`${said.replace(/^option '(--[a-z-]+)[^']*' argument '(.*)' is invalid\. /s, '$1 cannot be "$2". ')}${see}`)
    }
  }
}

const article = (noun: string) => `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
