import type { Command } from 'commander'
import type { QuestionView } from '../../domain/view/view.ts'
import { withConnection } from '../connecting/connect.ts'
import { findTask } from '../finding/find-task.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatAge, shortId } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('List the questions that wait for an answer, the oldest first.')
    .option('--task <task>', 'only those of this task: its id, the end or beginning of it, or "last"')
    .option('--all', 'also those that were answered or need no answer any more')
    .addHelpText('after', '\nExample\n  pawl questions && pawl answer last "yes"\n')
    .action((options: { task?: string; all?: boolean }) => list(cli, options))
}

async function list(cli: Cli, options: { task?: string; all?: boolean }): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const task = options.task === undefined ? undefined : await findTask(runtime, options.task)
    const items = await runtime.listQuestions({ task, ...(options.all ? {} : { state: 'pending' }) })
    if (cli.globals.json) return cli.json({ items, next: null })
    if (items.length === 0) return cli.say('Nothing is asked.')
    const now = Date.now()
    const rows = items.map((question) => [
      shortId(question.id),
      shortId(question.task),
      formatAge(now - Date.parse(question.askedAt)),
      question.state === 'pending' ? waitsUntil(question, now) : question.state,
      `${oneLine(question.text, 200)}${question.options.length > 0 ? ` [${question.options.map((each) => oneLine(each, 40)).join(' | ')}]` : ''}`,
    ])
    const width = process.stdout.isTTY ? process.stdout.columns : undefined
    cli.out(table(['QUESTION', 'TASK', 'AGE', 'THEN', 'TEXT'], rows, width, ['AGE', 'TASK']))
    if (items.some(({ state }) => state === 'pending')) cli.say('Answer with: pawl answer <question> "…"')
  })
}

/** How long is left, and what happens then. */
function waitsUntil({ deadline, afterDeadline }: QuestionView, nowMs: number): string {
  if (deadline === null) return 'waits'
  const leftMs = Date.parse(deadline) - nowMs
  return `${afterDeadline?.kind ?? 'deny'} ${leftMs > 0 ? `in ${formatAge(leftMs)}` : 'now'}`
}
