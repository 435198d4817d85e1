import { z } from 'zod'
import type { Adapter, Preset } from '../src/agent.ts'
import { adapters, presets } from '../src/agents/index.ts'
import { abilities, abilityWords } from '../src/domain/abilities.ts'
import { eventData } from '../src/domain/event.ts'
import { moves } from '../src/domain/task/task.ts'

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

Made from \`src/domain/event.ts\` by \`node scripts/docs.ts\`.

Everything that happens to a task is an event. Events of one task are numbered from 1 without gaps, never change, and are on disk before anybody sees
them. Each has this envelope:

\`\`\`json
{ "seq": 17, "type": "run.started", "at": "2030-01-01T00:00:00.000Z", "task": "t_…", "run": "r_…", "data": {} }
\`\`\`

Read them with \`pawl logs <task> --json\`, or over HTTP: \`GET /api/v1/tasks/<task>/events\` streams them (SSE; \`Last-Event-ID\` resumes after that
number), and with \`Accept: application/json\` it answers a page (\`?after=SEQ&limit=N\`). A reader should pass over types it does not know: new ones come
without a new API version. \`GET /api/v1/events\` does the same for all tasks together, by \`type\`, \`task\` and \`agent\`; its ids are cursors, and \`after=0\` begins with the
oldest event. \`agent.*\` events are what the agent program said; only Pawl itself writes the others, whatever an agent prints.

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
