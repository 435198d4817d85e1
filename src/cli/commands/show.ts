import type { Command } from 'commander'
import type { NotificationView } from '../../domain/notification/notification.ts'
import { whyAlone } from '../../domain/task/suspect.ts'
import type { TaskView } from '../../domain/view/view.ts'
import { withConnection } from '../connecting/connect.ts'
import { findTask } from '../finding/find-task.ts'
import type { Cli } from '../terminal/cli.ts'
import { activityWords } from '../text/activity.ts'
import {
  durationOf,
  formatCost,
  formatElapsed,
  formatMoney,
  formatState,
  formatTaskState,
  formatTime,
  formatUntil,
} from '../text/format.ts'
import { restLines } from '../text/outcome.ts'
import { oneLine, plain } from '../text/plain.ts'
import { settingsLines } from '../text/task-settings.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Show one task with its runs and questions.')
    .argument('<task>', 'its id, the end or beginning of it, or "last"')
    .addHelpText('after', '\nExample\n  pawl show last')
    .action((named: string) => show(cli, named))
}

async function show(cli: Cli, named: string): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime, isDaemon }) => {
    const task = await runtime.getTask(await findTask(runtime, named))
    if (cli.globals.json) return cli.json(task)
    for (const line of describe(task)) cli.out(line)
    const { items } = await runtime.listNotifications({ task: task.id, limit: 20 })
    for (const item of items.toReversed()) cli.out(`${'told'.padEnd(10)} ${describeNotification(item)}`)
    for (const line of restLines(task, { isDaemon, isAsked: true })) cli.say(line)
  })
}

function describe(task: TaskView): string[] {
  const facts: [string, string | undefined][] = [
    ['task', task.id],
    ['name', task.name === null ? undefined : oneLine(task.name)],
    [
      'state',
      `${task.interrupted ? formatTaskState(task) : formatState(task.state)}${task.reason ? ` (${oneLine(task.reason.kind)}${task.reason.detail ? `: ${oneLine(task.reason.detail)}` : ''})` : ''}`,
    ],
    ['suspect', suspectLine(task)],
    ['resumes', task.resumeAt === null ? undefined : `${formatTime(task.resumeAt)}, ${formatUntil(task.resumeAt)}`],
    ['now', task.current === null ? undefined : oneLine(task.current)],
    ['doing', task.activity === null ? undefined : oneLine(activityWords(task.activity))],
    ['agent', oneLine(task.agent)],
    ['session', task.session],
    ['workspace', oneLine(task.workspace)],
    ['parent', task.parent ?? undefined],
    ['priority', task.priority === 0 ? undefined : String(task.priority)],
    ['tags', task.tags.length > 0 ? task.tags.map((tag) => oneLine(tag)).join(', ') : undefined],
    ...settingsLines(task),
    ['cost', spent(task)],
    ['created', formatTime(task.createdAt)],
    ['prompt', indented(task.prompt)],
    [
      'result',
      task.result === null ? undefined : `${formatState(task.result.outcome)}${task.proof === 'none' ? '' : `, ${task.proof}`}`,
    ],
    [
      'summary',
      task.result?.summary && task.result.summary !== task.result.text.trim() ? indented(task.result.summary) : undefined,
    ],
    ['text', task.result?.text ? indented(task.result.text) : undefined],
  ]
  return [
    ...facts.flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(10)} ${value}`])),
    ...task.runs.map((run) => `${'run'.padEnd(10)} ${describeRun(run)}`),
    ...tree(task.subtasks, task.id),
    ...task.questions.map(
      (question) =>
        `${'question'.padEnd(10)} ${question.id} ${question.state}: ${indented(question.text)}${question.answer === null ? '' : ` → ${indented(question.answer)}`}`,
    ),
  ]
}

const suspectLine = ({ suspect }: TaskView) =>
  suspect &&
  `${whyAlone(suspect)} (on ${oneLine(suspect.host)}${suspect.lostAlone > 0 ? ', and once more while only this task ran' : ''})`

/** What is below a task, each subtask under the one that it is a part of. */
function tree(subtasks: TaskView['subtasks'], parent: string, indent = ''): string[] {
  const own = subtasks.filter((subtask) => subtask.parent === parent)
  return own.flatMap(({ id, name, ...subtask }, index) => {
    const isLast = index === own.length - 1
    const line = `${'subtask'.padEnd(10)} ${indent}${isLast ? '└─' : '├─'} ${id} ${formatTaskState(subtask)}${name === null ? '' : `: ${oneLine(name, 80)}`}`
    return [line, ...tree(subtasks, id, `${indent}${isLast ? '   ' : '│  '}`)]
  })
}

function describeNotification({ target, event, state, attempts, lastError }: NotificationView): string {
  const tries = attempts > 1 ? `, ${attempts} tries` : ''
  return `${oneLine(target)} of ${event}: ${state}${tries}${lastError === null ? '' : `: ${oneLine(lastError, 200)}`}`
}

function describeRun(run: TaskView['runs'][number]): string {
  const took = run.endedAt === null ? undefined : formatElapsed(durationOf(run))
  const parts = [
    run.id,
    `attempt ${run.attempt}`,
    run.outcome === null ? run.state : `${formatState(run.outcome)}${run.category === null ? '' : ` (${run.category})`}`,
    took,
    run.walls === null ? undefined : `walls: ${oneLine(run.walls)}${run.enforced ? '' : ', NOT ENFORCED'}`,
    run.message === null ? undefined : oneLine(run.message, 300),
  ]
  return `${parts.filter((part) => part !== undefined).join(' · ')}${cost(run.costUsd)}`
}

/** Its own, and with what is below it if that is more. */
function spent({ cost: { usd, totalUsd, known } }: TaskView): string | undefined {
  const shown = (amount: number | null) => (amount === null ? 'of unknown price' : formatCost(amount, known))
  if (!totalUsd && known !== 'unknown') return undefined
  return usd === totalUsd ? shown(totalUsd) : `${shown(usd)}, ${shown(totalUsd)} with its subtasks`
}

const cost = (usd: number | null) => (usd ? ` · ${formatMoney(usd)}` : '')
const indented = (text: string) =>
  plain(text)
    .trimEnd()
    .replaceAll('\n', `\n${' '.repeat(11)}`)
