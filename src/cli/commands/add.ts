import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { withConnection } from '../connect.ts'
import { agentOf, createTask, defineTask, sayQueued, type TaskOptions, taskRequest } from '../task-request.ts'

export function define(command: Command, cli: Cli): void {
  defineTask(command.description('Queue a task for the daemon and print its id.')).action(
    (words: string[], options: TaskOptions) => add(cli, words, options),
  )
}

async function add(cli: Cli, words: string[], options: TaskOptions): Promise<void> {
  const request = await taskRequest(cli, words, options)
  await withConnection(cli, { work: 'none', isForNewTask: true }, async (connection) => {
    const agent = await agentOf(connection, options)
    const task = await createTask(connection, { ...request, ...agent, attended: false })
    if (cli.globals.json) cli.json(task)
    else cli.out(task.id)
    sayQueued(cli, connection, options.agent === undefined ? task : undefined)
  })
}
