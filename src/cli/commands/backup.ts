import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import type { BackupView } from '../../domain/view/backup.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatBytes } from '../text/format.ts'

interface BackupOptions {
  withKeys?: boolean
  withWorkspaces?: boolean
  withLogs?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Write everything into one file, as it is in one moment, while work goes on: all tables, the settings and prompts of the home, recordings. The key that opens the secrets is not in it.',
    )
    .argument('[file]', 'where; a file named after the time in the folder "backups" of the home if left out')
    .option('--with-keys', 'also the key that opens the secrets: whoever has the file then has them')
    .option('--with-workspaces', "also the folders of Pawl's own in which tasks work")
    .option('--with-logs', 'also what the programs of agents printed')
    .addHelpText(
      'after',
      [
        '',
        'Commands',
        '  ls           list the backups in the folder for them',
        '  verify FILE  check every hash in a backup',
        '',
        'Examples',
        '  pawl backup',
        '  pawl backup /mnt/other-disk/monday.pawl',
        '  pawl backup verify /mnt/other-disk/monday.pawl',
        '',
        'A daemon takes them by itself with "backup: { every: 60s, keep: 10 }" in the settings.',
      ].join('\n'),
    )
    .action((file: string | undefined, options: BackupOptions) => backup(cli, file, options))
}

/** Always in this process, beside the daemon if there is one: the file belongs to whoever asked for it, and so does the key. */
async function backup(cli: Cli, file: string | undefined, options: BackupOptions): Promise<void> {
  const { readUsableSettings } = await import('../connecting/settings.ts')
  const { openRuntime } = await import('../../daemon/daemon.ts')
  const { ownLog } = await import('../terminal/own-log.ts')
  const { config } = await readUsableSettings(cli)
  const own = await openRuntime({ config, log: ownLog(cli, config) })
  try {
    const place = file === undefined ? {} : { file: resolve(cli.cwd, file) }
    const onPart = progressOf(cli)
    const made = await own.runtime.createBackup({ ...options, ...place, onPart }, { by: 'cli' })
    const path = resolve(place.file === undefined ? config.backup.folder : dirname(place.file), made.name)
    if (cli.globals.json) return cli.json({ ...made, file: path })
    cli.out(path)
    sayBackup(cli, made)
  } finally {
    await own.stop()
  }
}

function progressOf(cli: Cli): (name: string, bytes: number) => void {
  let saidAt = performance.now()
  return (name, bytes) => {
    if (performance.now() - saidAt < 1_000) return
    saidAt = performance.now()
    cli.say(cli.style('faint', `${formatBytes(bytes)}, ${name}`))
  }
}

export function sayBackup(cli: Cli, made: Omit<BackupView, 'name'>): void {
  cli.say(
    `${made.rows} rows of ${made.tables} tables and ${made.files} files, ${formatBytes(made.contentBytes)} in ${formatBytes(made.bytes)}.`,
  )
  if (made.withKeys) cli.say(cli.style('bad', 'The key that opens the secrets is in it: keep it as you would keep them.'))
  else
    cli.say(
      'The key that opens the secrets is not in it; keep a copy of it elsewhere (secret.key in the home, unless the settings name another place).',
    )
}
