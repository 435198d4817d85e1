import type { Command } from 'commander'
import { invalid } from '../../domain/error.ts'
import type { Cli } from '../terminal/cli.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Show live what needs you, what runs, waits and is done, and what was spent; answer, open, cancel and retry there. The same as "pawl" alone on a terminal. With --json it prints that once and ends.',
    )
    .addHelpText(
      'after',
      '\nExample\n  pawl top --json\n\nKeys: up, down, j, k move; enter opens; a answers; c cancels; r tries again; ? says more; q leaves.',
    )
    .action(async () => {
      if (cli.globals.json) return once(cli)
      if (!cli.isInteractive || process.stdout.isTTY !== true)
        throw invalid('The overview needs a terminal; "pawl ls" lists tasks and "pawl questions" what is asked.')
      const { runTop } = await import('../top/top.ts')
      cli.exitCode = await runTop(cli)
    })
}

async function once(cli: Cli): Promise<void> {
  const [{ withConnection }, { loadOverview }] = await Promise.all([
    import('../connecting/connect.ts'),
    import('../top/overview.ts'),
  ])
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const { costs: _, ...overview } = await loadOverview(runtime)
    cli.json(overview)
  })
}
