import type { Command } from 'commander'
import { invalid } from '../../domain/error.ts'
import { withConnection } from '../connecting/connect.ts'
import { addScopeOptions, describeScope, type ScopeOptions, scopeOf } from '../requests/secret-scope.ts'
import type { Cli } from '../terminal/cli.ts'
import { readSecret } from '../terminal/read-secret.ts'
import { oneLine } from '../text/plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Store a secret. Its value is read from standard input, or asked for without showing it; never from the command line.',
    )
    .argument('<name>', 'how profiles name it')
    .allowExcessArguments()
    .addHelpText(
      'after',
      '\nExamples\n  printf %s "$VALUE" | pawl secret set NPM_TOKEN\n  pawl secret set DEPLOY_KEY --agent deployer < ~/.ssh/deploy_key',
    )
    .action((name: string, options: ScopeOptions) => set(cli, name, options, command.args.length > 1 || name.includes('=')))
  addScopeOptions(command, 'it is for')
}

async function set(cli: Cli, name: string, options: ScopeOptions, hasValue: boolean): Promise<void> {
  // What follows the name is not repeated: it may be the secret.
  if (hasValue)
    throw invalid(
      `A value on the command line can be read by everybody on this machine, and the shell remembers it; nothing was stored. Consider that value known. Pipe the new one: printf %s "$VALUE" | pawl secret set ${/^[\w.-]*/.exec(name)?.[0] || 'NAME'}`,
    )
  const scope = scopeOf(options)
  const value = await readSecret(cli, `Value of ${oneLine(name)}`)
  await withConnection(cli, { work: 'none' }, async ({ secrets }) => {
    const secret = await secrets.setSecret(scope, name, value, { by: 'cli' })
    if (cli.globals.json) cli.json(secret)
    else cli.out(`${secret.name}  ${secret.scope}`)
    cli.say(`Stored ${describeScope(scope)}. Runs whose profile lists it under "secrets" are given it.`)
    if (value.trim().length < 8) cli.say('It has fewer than 8 characters: too few to be hidden in what an agent says.')
  })
}
