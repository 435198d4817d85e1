import type { Command } from 'commander'
import { findTask, taskArgument } from '../finding/find-task.ts'
import type { Cli } from '../terminal/cli.ts'
import { writeOut } from '../terminal/terminal.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Print everything as JSON lines: tasks with their runs, events, questions, checks and costs, sessions with their conversations, schedules. No tokens, no secrets, no files of workspaces.',
    )
    .option('--task <id...>', `only these tasks; each: ${taskArgument}`)
    .addHelpText('after', '\nExamples\n  pawl export > everything.jsonl\n  pawl export --task last > one.jsonl')
    .action((options: { task?: string[] }) => print(cli, options))
}

/** Always in this process: it may be much, and needs no daemon. */
async function print(cli: Cli, { task }: { task?: string[] }): Promise<void> {
  const { readUsableSettings } = await import('../connecting/settings.ts')
  const { openRuntime } = await import('../../daemon/daemon.ts')
  const { ownLog } = await import('../terminal/own-log.ts')
  const { config } = await readUsableSettings(cli)
  const own = await openRuntime({ config, log: ownLog(cli, config) })
  try {
    const tasks = task && (await Promise.all(task.map((named) => findTask(own.runtime, named))))
    for await (const line of own.runtime.exportTasks({ tasks }, { by: 'cli' })) if (!(await writeOut(`${line}\n`))) return
  } finally {
    await own.stop()
  }
}
