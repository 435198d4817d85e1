import { type Command, Option } from 'commander'
import { type CostGroup, costGroups } from '../../domain/money/cost.ts'
import type { CostSum } from '../../domain/money/cost-view.ts'
import { withConnection } from '../connecting/connect.ts'
import { writtenTime } from '../requests/written-time.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatCost, formatMoney, formatTime, shortId } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

interface CostOptions {
  since?: string
  until?: string
  by: CostGroup
  prices?: true
}

export function define(command: Command, cli: Cli): void {
  command
    .description('Show what was spent: today, or since a time.')
    .addOption(new Option('--by <what>', 'one line for each').choices(costGroups).default('agent'))
    .option('--since <time>', 'how far back, as in 7d or 12h, or a date such as 2026-11-01; today if left out')
    .option('--until <time>', 'up to this, written the same way')
    .option('--prices', 'show what tokens are counted for instead, and where that comes from')
    .addHelpText('after', '\nExamples\n  pawl costs --since 30d --by model\n  pawl costs --prices')
    .action((options: CostOptions) => (options.prices ? showPrices(cli) : show(cli, options)))
}

async function showPrices(cli: Cli): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const prices = await runtime.listPrices()
    if (cli.globals.json) return cli.json(prices)
    const rows = prices.items.map(({ model, pieces, long, ...price }) => [
      `${oneLine(model, 60)}${long ? ` (above ${long.above} tokens: ${long.input}, ${long.output})` : ''}`,
      ...[price.input, price.output, price.cacheRead, price.cacheWrite, price.cacheWriteHour ?? price.cacheWrite].map(String),
      Object.entries(pieces ?? {})
        .filter(([, usd]) => usd > 0)
        .map(([piece, usd]) => `${oneLine(piece, 40)} ${usd}`)
        .join(', '),
      price.from,
    ])
    cli.out(
      table(['MODEL', 'INPUT', 'OUTPUT', 'CACHE READ', 'CACHE WRITE', 'FOR AN HOUR', 'BY THE PIECE', 'FROM'], rows, undefined),
    )
    cli.say(
      'US dollars for a million tokens, or for one piece. Thinking counts as output where no price of its own is named. prices: in the settings wins.',
    )
    if (prices.asOf !== null)
      cli.say(`The list is what makers asked in ${prices.asOf}: ${prices.sources.map((source) => oneLine(source)).join(', ')}.`)
  })
}

async function show(cli: Cli, options: CostOptions): Promise<void> {
  const query = {
    by: options.by,
    ...(options.since === undefined ? {} : { since: await writtenTime('--since', options.since) }),
    ...(options.until === undefined ? {} : { until: await writtenTime('--until', options.until) }),
  }
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const costs = await runtime.listCosts(query)
    if (cli.globals.json) return cli.json(costs)
    const span = `since ${formatTime(costs.since)}${costs.until === null ? '' : ` until ${formatTime(costs.until)}`}`
    if (costs.items.length === 0) return cli.say(`Nothing was spent ${span}.`)
    const rows = costs.items.map((item) => [
      costs.by === 'task' ? shortId(item.key) : oneLine(item.key, 40) || '(not named)',
      ...cells(item),
    ])
    cli.out(
      table(
        [costs.by.toUpperCase(), 'COST', 'INPUT', 'CACHED', 'OUTPUT', 'TURNS'],
        [...rows, ['total', ...cells(costs.total)]],
        undefined,
      ),
    )
    cli.say(`${span[0]?.toUpperCase()}${span.slice(1)}. ~ by Pawl's price table; ≥ with parts whose price nobody knows.`)
    const { dayUsd, monthUsd } = costs.caps
    if (dayUsd !== null || monthUsd !== null)
      cli.say(
        `Budget: ${[dayUsd === null ? undefined : `${formatMoney(dayUsd)} a day`, monthUsd === null ? undefined : `${formatMoney(monthUsd)} a month`].filter((part) => part !== undefined).join(', ')}.`,
      )
    if (costs.unpriced.length > 0)
      cli.say(
        `Of unknown price, and counted as the dearest commonly used: ${costs.unpriced.map((model) => oneLine(model, 60) || 'a model that was not named').join(', ')}. Name it under prices: in the settings.`,
      )
  })
}

const cells = ({ usd, known, tokens, turns }: CostSum) => [
  usd === null ? 'unknown' : formatCost(usd, known),
  String(tokens.input),
  String(tokens.cacheRead + tokens.cacheWrite),
  String(tokens.output),
  String(turns),
]
