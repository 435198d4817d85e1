import { join } from 'node:path'
import type { Command } from 'commander'
import { clientSettings } from '../../config/config.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description("Print the files that settings are read from and Pawl's home.")
    .addHelpText('after', '\nExample\n  pawl config path')
    .action(async () => {
      const { home, projectFile } = await clientSettings({ cwd: cli.cwd, ...cli.globals })
      const files = { home, homeFile: join(home, 'config.yaml'), projectFile: projectFile ?? null }
      if (cli.globals.json) return cli.json(files)
      cli.out(`home       ${oneLine(files.home)}`)
      cli.out(`home file  ${oneLine(files.homeFile)}`)
      cli.out(`project    ${projectFile === undefined ? 'none from this folder upward' : oneLine(projectFile)}`)
    })
}
