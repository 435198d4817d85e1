import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import { findRun, runArgument } from '../finding/find-run.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatBytes, formatElapsed } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Show what was asked of models in a recorded run, call by call.')
    .argument('<run>', runArgument)
    .addHelpText('after', '\nExample\n  pawl recording show last')
    .action((named: string) => show(cli, named))
}

async function show(cli: Cli, named: string): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const recording = await runtime.getRecording(await findRun(runtime, named))
    if (cli.globals.json) return cli.json(recording)
    const { run, task, agent, model, state, stopped, bytes, workspace, items } = recording
    cli.out(
      `${run}  ${state}  task ${task}  ${oneLine(agent)}${model === null ? '' : `  ${oneLine(model)}`}  ${formatBytes(bytes)}`,
    )
    if (stopped !== null) cli.out(oneLine(stopped))
    cli.out(workspace ? `workspace: ${workspace.files} files, ${formatBytes(workspace.bytes)}` : 'workspace: not kept')
    const rows = items.map((item) => [
      String(item.number),
      formatElapsed(item.atMs),
      oneLine(item.path, 60),
      oneLine(item.model ?? ''),
      item.messages === null ? '' : String(item.messages),
      item.status === null ? 'none' : `${item.status}${item.whole ? '' : ' cut'}`,
      item.durationMs === null ? '' : formatElapsed(item.durationMs),
    ])
    const width = process.stdout.isTTY ? process.stdout.columns : undefined
    if (rows.length > 0) cli.out(table(['CALL', 'AT', 'PATH', 'MODEL', 'MESSAGES', 'STATUS', 'TOOK'], rows, width))
  })
}
