import { z } from 'zod'
import { adapters, presets } from '../src/agents/index.ts'
import type { Adapter, Preset } from '../src/agents/port.ts'
import { abilities, abilityWords } from '../src/domain/agent/abilities.ts'
import { eventData } from '../src/domain/event/event.ts'
import { moves } from '../src/domain/task/task.ts'
import { metricDefinitions } from '../src/telemetry/metrics.ts'

/** docs/events.md, from the table of events. */
export function eventsPage(): string {
  const sections = Object.entries(eventData).map(([type, schema]) => {
    const json = z.toJSONSchema(schema, { unrepresentable: 'any' }) as {
      properties?: Record<string, unknown>
      required?: string[]
    }
    const fields = Object.entries(json.properties ?? {}).map(
      ([name, field]) => `\`${name}\`${json.required?.includes(name) ? '' : '?'} ${kind(field)}`,
    )
    return `### \`${type}\`\n\n${schema.description}\n\n${fields.length > 0 ? `Data: ${fields.join(', ')}` : 'No data.'}\n`
  })
  return `# Events

Made from \`src/domain/event/event.ts\` by \`node scripts/docs.ts\`.

Everything that happens to a task is an event. Events of one task are numbered from 1 without gaps, never change, and are on disk before anybody sees
them. Each has this envelope:

\`\`\`json
{ "seq": 17, "type": "run.started", "at": "2030-01-01T00:00:00.000Z", "task": "t_…", "run": "r_…", "data": {} }
\`\`\`

Read them with \`pawl logs <task> --json\`, or over HTTP: \`GET /api/v1/tasks/<task>/events\` streams them (SSE; \`Last-Event-ID\` resumes after that
number), and with \`Accept: application/json\` it answers a page (\`?after=SEQ&limit=N\`). A reader should pass over types it does not know: new ones come
without a new API version. \`GET /api/v1/events\` does the same for all tasks together, by \`type\`, \`task\` and \`agent\`; its ids are cursors, and \`after=0\` begins with the
oldest event. \`agent.*\` events are what the agent program said; only Pawl itself writes the others, whatever an agent prints.

## While it is being said

With \`?partial=1\` the stream of one task also tells what its agent is saying, at most ten times a second, in messages named \`partial\` that have no id, so that
\`Last-Event-ID\` stays true. Nothing of it is stored; secrets are taken out of it as out of events, and what may be the beginning of one waits for its rest:

\`\`\`
event: partial
data: {"run":"r_…","n":3,"kind":"message","at":12,"text":"and the pears "}
\`\`\`

\`n\` counts what the run says, \`kind\` is \`message\` or \`thinking\`, and \`text\` takes the place of everything from \`at\` on; no text at 0 says that nothing is being said any
more. The whole comes as \`agent.message\` or \`agent.thinking\`, always. Partial messages are best effort: programs that do not tell of them have none, and where several
Pawl processes share a database, only the one that runs the agent has them. \`pawl run\` and \`pawl logs -f\` show them on the last line of a terminal, the page where they
will stand.

${sections.join('\n')}`
}

function kind(field: unknown): string {
  const { type, enum: values, format } = field as { type?: string | string[]; enum?: unknown[]; format?: string }
  if (values) return values.length > 6 ? '(one of a list)' : `(${values.join(' \\| ')})`
  if (format === 'date-time') return '(time)'
  return type ? `(${Array.isArray(type) ? type.join(' or ') : type})` : '(any JSON)'
}

const begin = '<!-- moves: made from src/domain/task/task.ts by scripts/docs.ts -->'
const end = '<!-- /moves -->'

/** The table inside docs/states.md, from the table of moves; the text around it is written by hand. */
export function statesPage(current: string): string {
  const rows = Object.entries(moves).map(
    ([name, move]) =>
      `| \`${name}\` | ${move.from.join(', ')} | ${move.to} | ${move.fenced ? 'the run that holds the fence' : 'anybody'} |`,
  )
  const table = `${begin}\n\n| move | from | to | who may |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n\n${end}`
  return current.replace(new RegExp(`${begin}[\\s\\S]*?${end}`), () => table)
}

const adaptersBegin = '<!-- adapters: made from src/agents by scripts/docs.ts -->'
const adaptersEnd = '<!-- /adapters -->'

/** The tables inside docs/agents.md, from what adapters and presets say of themselves. */
export function agentsPage(current: string): string {
  const tables = [
    '| adapter | program | agent without settings | tried | installed by |\n| --- | --- | --- | --- | --- |',
    ...adapters.map(adapterRow),
    '',
    `| | ${adapters.map(({ name }) => `\`${name}\``).join(' | ')} | |\n|${' --- |'.repeat(adapters.length + 2)}`,
    ...abilities.map(
      (ability) =>
        `| \`${ability}\` | ${adapters.map(({ can }) => (can[ability] ? '✓' : '')).join(' | ')} | ${abilityWords[ability]} |`,
    ),
    '',
    '| preset | program | spoken to by | tried | installed by |\n| --- | --- | --- | --- | --- |',
    ...presets.map(presetRow),
  ].join('\n')
  return current.replace(
    new RegExp(`${adaptersBegin}[\\s\\S]*?${adaptersEnd}`),
    () => `${adaptersBegin}\n\n${tables}\n\n${adaptersEnd}`,
  )
}

function adapterRow({ name, title, builtin, tried, install, isOurs }: Adapter): string {
  const versions = isOurs ? 'part of Pawl' : tried ? `${tried.from} to ${tried.to}` : builtin ? 'untried' : 'by its program'
  return `| \`${name}\` | ${title} | ${builtin ? `\`${builtin.name}\`` : ''} | ${versions} | ${install ? `\`${install.replaceAll('|', '\\|')}\`` : ''} |`
}

const presetRow = ({ name, title, adapter, tried, install, docs }: Preset) =>
  `| \`${name}\` | [${title}](${docs}) | \`${adapter}\` | ${tried} | \`${install.replaceAll('|', '\\|')}\` |`

/** The table of metrics inside docs/operating.md. */
export function operatingPage(current: string): string {
  const rows = Object.entries(metricDefinitions).map(
    ([name, { type, labels, help }]) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(' ')} | ${help} |`,
  )
  const table = ['| name | type | labels | what it says |\n| --- | --- | --- | --- |', ...rows].join('\n')
  return current.replace(/<!-- metrics -->[\s\S]*?<!-- \/metrics -->/, () => `<!-- metrics -->\n\n${table}\n\n<!-- /metrics -->`)
}
