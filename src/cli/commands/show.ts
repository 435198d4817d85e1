import type { Command } from 'commander'
import type { TaskView } from '../../domain/view.ts'
import type { Cli } from '../cli.ts'
import { withConnection } from '../connect.ts'
import { findTask } from '../find-task.ts'
import { durationOf, formatElapsed, formatMoney, formatState, formatTime } from '../format.ts'
import { oneLine, plain } from '../plain.ts'
import { restLines } from '../rest.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Show one task with its runs and questions.')
    .argument('<task>', 'its id, the end of it, or "last"')
    .action((named: string) => show(cli, named))
}

async function show(cli: Cli, named: string): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime, isDaemon }) => {
    const task = await runtime.getTask(await findTask(runtime, named))
    if (cli.globals.json) return cli.json(task)
    for (const line of describe(task)) cli.out(line)
    for (const line of restLines(task, { isDaemon, isAsked: true })) cli.say(line)
  })
}

function describe(task: TaskView): string[] {
  const facts: [string, string | undefined][] = [
    ['task', task.id],
    [
      'state',
      `${formatState(task.state)}${task.reason ? ` (${oneLine(task.reason.kind)}${task.reason.detail ? `: ${oneLine(task.reason.detail)}` : ''})` : ''}`,
    ],
    ['resumes', task.resumeAt === null ? undefined : formatTime(task.resumeAt)],
    ['agent', oneLine(task.agent)],
    ['session', task.session],
    ['workspace', oneLine(task.workspace)],
    ['priority', task.priority === 0 ? undefined : String(task.priority)],
    ['tags', task.tags.length > 0 ? task.tags.map((tag) => oneLine(tag)).join(', ') : undefined],
    ['created', formatTime(task.createdAt)],
    ['prompt', indented(task.prompt)],
    [
      'result',
      task.result === null
        ? undefined
        : `${formatState(task.result.outcome)}${task.result.verified ? ', verified' : ''}${cost(task.result.costUsd)}`,
    ],
    ['text', task.result?.text ? indented(task.result.text) : undefined],
  ]
  return [
    ...facts.flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(10)} ${value}`])),
    ...task.runs.map((run) => `${'run'.padEnd(10)} ${describeRun(run)}`),
    ...task.questions.map(
      (question) =>
        `${'question'.padEnd(10)} ${question.id} ${question.state}: ${indented(question.text)}${question.answer === null ? '' : ` → ${indented(question.answer)}`}`,
    ),
  ]
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

const cost = (usd: number | null) => (usd ? ` · ${formatMoney(usd)}` : '')
const indented = (text: string) =>
  plain(text)
    .trimEnd()
    .replaceAll('\n', `\n${' '.repeat(11)}`)
