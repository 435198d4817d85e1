import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Cli } from '../terminal/cli.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Seal all secrets with a new key, all of them or none. Daemons that run go on with the new one.')
    .option('--from <file>', 'the key they were stored with, if the settings name another by now')
    .addHelpText('after', '\nExample\n  pawl secret rekey')
    .action((options: { from?: string }) => rekey(cli, options))
}

/** Always in this process: a key is handed to nobody, not even to a daemon. */
async function rekey(cli: Cli, { from }: { from?: string }): Promise<void> {
  const { readUsableSettings } = await import('../connecting/settings.ts')
  const { openRuntime } = await import('../../daemon/daemon.ts')
  const { ownLog } = await import('../terminal/own-log.ts')
  const { config } = await readUsableSettings(cli)
  const own = await openRuntime({ config, log: ownLog(cli, config) })
  try {
    const done = await own.secrets.rekey({ by: 'cli' }, from === undefined ? {} : { from: resolve(cli.cwd, from) })
    if (cli.globals.json) return cli.json(done)
    cli.out(done.fingerprint)
    cli.say(`${done.secrets} secrets are sealed with the new key. Copies of the database made before still need the old one.`)
  } finally {
    await own.stop()
  }
}
