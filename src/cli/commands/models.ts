import { type Command, Option } from 'commander'
import { invalid } from '../../domain/error.ts'
import type { ModelView } from '../../domain/view/model.ts'
import type { ModelFigures } from '../../domain/view/model-metrics.ts'
import { withConnection } from '../connecting/connect.ts'
import { writtenTime } from '../requests/written-time.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatTime } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

interface ModelOptions {
  check?: true
  figures?: true
  since?: string
}

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'List the models of the settings: who serves them, under which name, in which format, and whether their price is known.',
    )
    .option('--check', 'ask each provider whether it answers and takes the key; ends with 1 if one does not')
    .option('--figures', 'show instead how they did: how soon and how fast they answered, how often not, what came from caches')
    .addOption(
      new Option('--since <time>', 'with --figures: how far back, as in 7d or 12h, or a date; a day if left out').implies({
        figures: true,
      }),
    )
    .addHelpText(
      'after',
      '\nExamples\n  pawl models\n  pawl models --check\n  pawl models --check --json\n  pawl models --figures --since 7d',
    )
    .action(async (options: ModelOptions) => {
      if (options.figures && options.check)
        throw invalid('--check asks the providers and --figures shows how they did; ask for one of them.')
      await (options.figures ? showFigures(cli, options) : list(cli, options.check ?? false))
    })
}

async function list(cli: Cli, check: boolean): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const items = await runtime.listModels({ check })
    if (items.some(({ reach }) => reach?.ok === false)) cli.exitCode = 1
    if (cli.globals.json) return cli.json({ items, next: null })
    if (items.length === 0)
      return cli.say(
        'No model is listed: each agent asks its own maker. "models:" in the settings lists some; see docs/gateway.md.',
      )
    const rows = items.map((model) => [
      oneLine([model.name, ...model.aliases].join(', '), 60),
      model.provider,
      oneLine(model.target, 40),
      model.formats.join(', '),
      model.priced ? 'known' : 'unknown',
      model.reach ? oneLine(model.reach.detail, 120) : keyWords[model.key],
    ])
    const width = process.stdout.isTTY ? process.stdout.columns : undefined
    cli.out(table(['MODEL', 'PROVIDER', 'TARGET', 'FORMAT', 'PRICE', check ? 'ANSWER' : 'KEY'], rows, width))
  })
}

async function showFigures(cli: Cli, { since }: ModelOptions): Promise<void> {
  const query = since === undefined ? {} : { since: await writtenTime('--since', since) }
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const figures = await runtime.listModelFigures(query)
    if (cli.globals.json) return cli.json(figures)
    const span = `since ${formatTime(figures.since)}`
    if (figures.items.length === 0) return cli.say(`No model was called through the gateway ${span}.`)
    const rows = figures.items.map((item) => [
      oneLine(item.model, 60),
      oneLine(item.provider, 40),
      String(item.calls),
      item.refused === 0 ? '0' : `${item.refused} (${kindsOf(item)})`,
      told(item.firstMs.p50, ' ms'),
      told(item.firstMs.p99, ' ms'),
      told(item.tokensPerSecond, ''),
      item.cacheHits === null ? '' : `${Math.round(item.cacheHits * 100)} %`,
    ])
    cli.out(table(['MODEL', 'PROVIDER', 'CALLS', 'REFUSED', 'FIRST, P50', 'P99', 'TOKENS/S', 'CACHED'], rows, undefined))
    cli.say(
      `${span[0]?.toUpperCase()}${span.slice(1)}. "First" is until the first of an answer came; "cached" is the part of the input that came from a cache.`,
    )
  })
}

const kindsOf = ({ refusals }: ModelFigures) =>
  Object.entries(refusals)
    .map(([kind, count]) => `${oneLine(kind, 40)} ${count}`)
    .join(', ')
const told = (value: number | null, unit: string) => (value === null ? '' : `${Math.round(value)}${unit}`)

const keyWords: Record<ModelView['key'], string> = { set: 'set', missing: 'missing', none: 'not needed' }
