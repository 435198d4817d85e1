import type { Command } from 'commander'
import type { SessionView } from '../../domain/view/view.ts'
import { withConnection } from '../connecting/connect.ts'
import { findSession } from '../finding/find-session.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatBytes, formatTaskState, formatTime } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Show one session with its tasks, newest first.')
    .argument('<session>', 'its id, the end or beginning of it, or "last"')
    .addHelpText('after', '\nExample\n  pawl sessions show last')
    .action((named: string) => show(cli, named))
}

async function show(cli: Cli, named: string): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const session = await runtime.getSession(await findSession(runtime, named))
    if (cli.globals.json) return cli.json(session)
    for (const line of describe(session)) cli.out(line)
    cli.say(`Go on with it: pawl run --session ${session.id} "…"`)
  })
}

function describe(session: SessionView): string[] {
  const hidden = session.taskCount - session.tasks.length
  return [
    `session    ${session.id}`,
    `agent      ${oneLine(session.agent)} (${oneLine(session.adapter)})`,
    `workspace  ${oneLine(session.workspace)}`,
    `vendor id  ${session.vendorId === null ? 'none yet' : oneLine(session.vendorId)}`,
    `archived   ${formatBytes(session.archivedBytes)}`,
    `created    ${formatTime(session.createdAt)}`,
    `changed    ${formatTime(session.updatedAt)}`,
    ...session.tasks.map((task) => `task       ${task.id} · ${formatTaskState(task)} · ${oneLine(task.prompt, 80)}`),
    ...(hidden > 0 ? [`           and ${hidden} older: pawl ls --session ${session.id} --all`] : []),
  ]
}
