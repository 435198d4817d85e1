import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { conflict } from '../../domain/error.ts'
import type { Cli } from '../terminal/cli.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Write a commented pawl.yaml into this folder.')
    .option('--force', 'replace the one that is there')
    .addHelpText('after', '\nExample\n  pawl init')
    .action((options: { force?: boolean }) => init(cli, options.force === true))
}

async function init(cli: Cli, force: boolean): Promise<void> {
  const [{ initTemplate }, { adapters }] = await Promise.all([
    import('../../config/template.ts'),
    import('../../agents/index.ts'),
  ])
  const file = join(cli.cwd, 'pawl.yaml')
  try {
    await writeFile(file, initTemplate(adapters), { flag: force ? 'w' : 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw conflict(`${file} is already there; --force replaces it.`)
  }
  if (cli.globals.json) cli.json({ file })
  else cli.out(file)
  cli.say('Everything in it is commented out; "pawl config show" prints what is in force.')
}
