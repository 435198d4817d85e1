import type { Command } from 'commander'
import { invalid } from '../../domain/error.ts'
import { withConnection } from '../connecting/connect.ts'
import { addScopeOptions, describeScope, type ScopeOptions, scopeOf } from '../requests/secret-scope.ts'
import type { Cli } from '../terminal/cli.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Remove a secret for good; runs whose profile needs it fail until it is set again.')
    .argument('<name>')
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample\n  pawl secret rm NPM_TOKEN --yes')
    .action((name: string, options: ScopeOptions & { yes?: boolean }) => remove(cli, name, options))
  addScopeOptions(command, 'it is for')
}

async function remove(cli: Cli, name: string, options: ScopeOptions & { yes?: boolean }): Promise<void> {
  const scope = scopeOf(options)
  await withConnection(cli, { work: 'none' }, async ({ secrets }) => {
    await secrets.getSecret(scope, name)
    if (
      !options.yes &&
      !(await isMeant(cli, `Remove the secret ${name} ${describeScope(scope)}? Nothing brings its value back.`))
    )
      return cli.say('It stays.')
    await secrets.removeSecret(scope, name, { by: 'cli' })
    if (cli.globals.json) cli.json({ removed: name, scope })
    else cli.say(`${name} is gone.`)
  })
}

async function isMeant(cli: Cli, question: string): Promise<boolean> {
  if (!cli.isInteractive)
    throw invalid('A removed secret is gone, and nobody can be asked here whether that is meant; say --yes.')
  const { confirm } = await import('../terminal/confirm.ts')
  return confirm(question)
}
