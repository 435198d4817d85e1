import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Put a backup into an empty home (--home) and its database (--database-url for one of your own). Every hash is compared before anything is touched; tasks that were running go back to the queue.',
    )
    .argument('<file>', 'the backup')
    .addHelpText('after', '\nExamples\n  pawl restore monday.pawl --home ~/pawl-again\n  pawl --home ~/pawl-again serve')
    .action((file: string) => restore(cli, resolve(cli.cwd, file)))
}

async function restore(cli: Cli, file: string): Promise<void> {
  const { readUsableSettings } = await import('../connecting/settings.ts')
  const { restoreHome } = await import('../../daemon/restore-home.ts')
  const { ownLog } = await import('../terminal/own-log.ts')
  const { config } = await readUsableSettings(cli)
  const done = await restoreHome({
    config,
    file,
    log: ownLog(cli, config),
    onPart: (name) => cli.say(cli.style('faint', oneLine(name))),
  })
  if (!done.audit.isWhole) cli.exitCode = 1
  if (cli.globals.json) return cli.json(done)
  cli.out(done.home)
  cli.say(`Restored: ${done.backup.rows} rows, ${done.backup.files} files, as of ${done.backup.takenAt}.`)
  cli.say(
    done.audit.isWhole
      ? `The audit is whole: ${done.audit.entries} entries.`
      : cli.style(
          'bad',
          `The audit is not whole: ${done.audit.firstBad?.why}. Everything else is there; the backup was taken of it as it is.`,
        ),
  )
  if (done.sealedSecrets > 0)
    cli.say(
      `${done.sealedSecrets} secrets are sealed with a key that is not here: put it where "secrets.key" of the settings says (secret.key in the home if nothing does).`,
    )
}
