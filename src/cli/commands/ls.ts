import type { Command } from 'commander'
import { type Column, columns, type TaskSort, taskSorts } from '../../domain/task/column.ts'
import type { TaskState } from '../../domain/task/task.ts'
import type { TaskSummary } from '../../domain/view/view.ts'
import { withConnection } from '../connecting/connect.ts'
import { findSession, sessionName } from '../finding/find-session.ts'
import { findTask } from '../finding/find-task.ts'
import { parseCount, takePages } from '../finding/pages.ts'
import { oneOf, parseStates } from '../requests/task-states.ts'
import { writtenTime } from '../requests/written-time.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatAge, formatCost, formatTaskState, formatTime, formatUntil, shortId } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

interface ListOptions {
  state?: TaskState[]
  agent?: string
  tag?: string
  session?: string
  parent?: string
  text?: string
  column?: Column[]
  endedSince?: string
  updatedSince?: string
  sort?: TaskSort
  limit: number
  all?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description('List tasks, newest first.')
    .option('--state <state>', 'only these, separated by commas', parseStates)
    .option('--agent <name>', 'only tasks of this agent')
    .option('--tag <name>', 'only tasks with this tag')
    .option('--session <id>', 'only tasks of this session: its id, the end or beginning of it, or "last"', sessionName)
    .option('--parent <task>', 'only subtasks of this task: its id, the end or beginning of it, or "last"')
    .option('--text <words>', 'only tasks with these words in their prompt or name')
    .option('--column <column>', `only these of the board, separated by commas: ${columns.join(', ')}`, parseColumns)
    .option('--ended-since <when>', 'only tasks that have ended since then: 12h, 7d, today, 2026-11-01')
    .option('--updated-since <when>', 'only tasks that have changed since then')
    .option('--sort <by>', `the newest first by when they were ${taskSorts.join(', ')}`, parseSort)
    .option('-n, --limit <count>', 'at most so many', parseCount, 20)
    .option('--all', 'every one, however many')
    .addHelpText(
      'after',
      '\nExamples\n  pawl ls --state queued,parked\n  pawl ls --ended-since today --sort ended\n  pawl ls --column needs_you',
    )
    .action((options: ListOptions) => list(cli, options))
}

async function list(cli: Cli, options: ListOptions): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const { state: states, column, agent, tag, text, sort, limit, all } = options
    const session = options.session === undefined ? undefined : await findSession(runtime, options.session)
    const endedSince = await sinceOf('--ended-since', options.endedSince)
    const updatedSince = await sinceOf('--updated-since', options.updatedSince)
    const parent = options.parent === undefined ? undefined : await findTask(runtime, options.parent)
    const narrowed = { states, columns: column, agent, tag, session, parent, text, endedSince, updatedSince }
    const page = await takePages(all ? Number.POSITIVE_INFINITY : limit, (part) =>
      runtime.listTasks({ ...narrowed, sort, ...part }),
    )
    if (cli.globals.json) return cli.json(page)
    const isNarrowed = Object.values(narrowed).some((only) => only !== undefined)
    if (page.items.length === 0)
      return cli.say(
        isNarrowed ? 'No task is like that; "pawl ls" lists all.' : 'There are no tasks; start one with: pawl run "…"',
      )
    const rows = page.items.map((task) => [
      shortId(task.id),
      stateOf(task),
      oneLine(task.agent, 20),
      formatAge(Date.now() - Date.parse(task.createdAt)),
      costOf(task),
      whatOf(task),
    ])
    const width = process.stdout.isTTY ? process.stdout.columns : undefined
    cli.out(table(['ID', 'STATE', 'AGENT', 'AGE', 'COST', 'PROMPT'], rows, width, ['COST', 'AGE', 'AGENT']))
    if (page.next !== null) cli.say(`More: add -n ${limit * 5}, or --all.`)
  })
}

/** Nothing for what cost nothing, or has not come to rest yet. */
const costOf = ({ result }: TaskSummary) =>
  result?.costUsd ? formatCost(result.costUsd, result.costKnown) : result?.costKnown === 'unknown' ? 'unknown' : ''

/** What it is about; of one that runs also what it is at right now. */
function whatOf({ name, prompt, current }: TaskSummary): string {
  const what = oneLine(name === null ? prompt : `${name}: ${prompt}`)
  return current === null ? what : `${oneLine(current, 80)} | ${what}`
}

function stateOf(task: TaskSummary): string {
  if (task.state === 'parked' && task.resumeAt !== null)
    return `parked until ${formatTime(task.resumeAt)}, ${formatUntil(task.resumeAt)}`
  if (task.state === 'blocked' || task.state === 'failed')
    return task.reason ? `${task.state}: ${oneLine(task.reason.kind, 30)}` : task.state
  if (task.state === 'queued' && task.reason) return `queued: ${oneLine(task.reason.kind.replaceAll('_', ' '), 30)}`
  if (task.state === 'created' && task.reason?.detail !== undefined)
    return `waits for ${task.reason.detail.split(', ').map(shortId).join(', ')}`
  return task.proof === 'verified' ? `${formatTaskState(task)}, verified` : formatTaskState(task)
}

const sinceOf = async (option: string, written: string | undefined) =>
  written === undefined ? undefined : writtenTime(option, written)

const parseColumns = (written: string): Column[] => written.split(',').map(oneOf('column', 'Columns', columns))
const parseSort = oneOf('order', 'Orders', taskSorts)
