import { type Command, Option } from 'commander'
import { invalid } from '../../domain/error.ts'
import { type CostGroup, costGroups } from '../../domain/money/cost.ts'
import type { CostSum } from '../../domain/money/cost-view.ts'
import type { Cli } from '../cli.ts'
import { withConnection } from '../connect.ts'
import { formatCost, formatMoney, formatTime, shortId } from '../format.ts'
import { oneLine } from '../plain.ts'
import { table } from '../table.ts'

interface CostOptions {
  since?: string
  until?: string
  by: CostGroup
}

export function define(command: Command, cli: Cli): void {
  command
    .description('Show what was spent: today, or since a time.')
    .addOption(new Option('--by <what>', 'one line for each').choices(costGroups).default('agent'))
    .option('--since <time>', 'how far back, as in 7d or 12h, or a date such as 2026-11-01; today if left out')
    .option('--until <time>', 'up to this, written the same way')
    .addHelpText('after', '\nExample\n  pawl cost --since 30d --by model')
    .action((options: CostOptions) => show(cli, options))
}

async function show(cli: Cli, options: CostOptions): Promise<void> {
  const query = {
    by: options.by,
    ...(options.since === undefined ? {} : { since: await timeOf('--since', options.since) }),
    ...(options.until === undefined ? {} : { until: await timeOf('--until', options.until) }),
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
        `Of unknown price, and counted as the dearest known: ${costs.unpriced.map((model) => oneLine(model, 60) || 'a model that was not named').join(', ')}. Name it under prices: in the settings.`,
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

/** A time that somebody wrote, by how long ago it is or by its date. */
async function timeOf(option: string, written: string): Promise<string> {
  const { parseDuration } = await import('../../config/duration.ts')
  const days = /^(\d{1,4})d$/.exec(written)?.[1]
  const agoMs = days === undefined ? parseDuration(written) : Number(days) * 86_400_000
  const at = agoMs === undefined ? new Date(written) : new Date(Date.now() - agoMs)
  if (Number.isNaN(at.getTime()))
    throw invalid(`${option} must be how long ago, such as 7d or 12h, or a date such as 2026-11-01.`)
  return at.toISOString()
}
