import type { Command } from 'commander'
import { didYouMean } from '../../domain/base/nearest.ts'
import { invalid } from '../../domain/error.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Print the settings in force and where each was decided; secrets are masked.')
    .argument('[key]', 'only this one, or all below it: limits.running, agents.demo; all if left out')
    .addHelpText('after', '\nExamples\n  pawl config show\n  pawl config show limits')
    .action((key: string | undefined) => show(cli, key))
}

async function show(cli: Cli, key: string | undefined): Promise<void> {
  const [{ showConfig }, { readSettings }] = await Promise.all([
    import('../../config/show.ts'),
    import('../connecting/settings.ts'),
  ])
  const config = await readSettings(cli, { askTrust: false })
  const all = showConfig(config)
  const rows = key === undefined ? all : all.filter(({ path }) => path === key || path.startsWith(`${key}.`))
  if (rows.length === 0) {
    const known = new Set(all.flatMap(({ path }) => path.split('.').map((_, n, parts) => parts.slice(0, n + 1).join('.'))))
    throw invalid(`There is no setting ${oneLine(key ?? '')} in force${didYouMean(key ?? '', [...known])}`)
  }
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
