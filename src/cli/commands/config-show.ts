import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { oneLine } from '../plain.ts'
import { table } from '../table.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Print every setting in force and where it was decided; secrets are masked.')
    .addHelpText('after', '\nExample\n  pawl config show')
    .action(() => show(cli))
}

async function show(cli: Cli): Promise<void> {
  const [{ showConfig }, { readSettings }] = await Promise.all([import('../../config/show.ts'), import('../settings.ts')])
  const config = await readSettings(cli, { askTrust: false })
  const rows = showConfig(config)
  if (cli.globals.json)
    cli.json({ settings: rows, files: config.files, untrusted: config.untrusted ?? null, notes: config.notes })
  else {
    const cells = rows.map((row) => [oneLine(row.path), oneLine(row.source), oneLine(written(row.value))])
    cli.out(table(['SETTING', 'FROM', 'VALUE'], cells, undefined))
  }
  for (const note of config.notes) cli.say(oneLine(note, 500))
  if (config.untrusted)
    cli.say(
      `${oneLine(config.untrusted.file)} is not trusted, so this does not count: ${config.untrusted.keys.map((key) => oneLine(key)).join(', ')}`,
    )
}

const written = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
