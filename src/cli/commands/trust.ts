import { resolve } from 'node:path'
import type { Command } from 'commander'
import { clientSettings } from '../../config/config.ts'
import { notFound } from '../../domain/error.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'

interface TrustOptions {
  list?: boolean
  remove?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Trust a pawl.yaml as it stands, so that it may run things and widen rights. Any change of the file ends the trust.',
    )
    .argument('[file]', 'the nearest pawl.yaml of this folder if left out')
    .option('--list', 'print what is trusted')
    .option('--remove', 'trust it no longer')
    .addHelpText('after', '\nExample\n  pawl trust')
    .action((named: string | undefined, options: TrustOptions) => trust(cli, named, options))
}

async function trust(cli: Cli, named: string | undefined, options: TrustOptions): Promise<void> {
  const { listTrusted, trustFile, untrustFile } = await import('../../config/trust.ts')
  const { home, projectFile } = await clientSettings({ cwd: cli.cwd, ...cli.globals })
  if (options.list) {
    const files = await listTrusted(home)
    if (cli.globals.json) return cli.json({ items: files })
    for (const { file, hash } of files) cli.out(`${oneLine(file)}  ${hash.slice(0, 19)}`)
    if (files.length === 0) cli.say('No file is trusted.')
    return
  }
  const file = named === undefined ? projectFile : resolve(cli.cwd, named)
  if (file === undefined) throw notFound('There is no pawl.yaml in this folder or above it; name the file.')
  if (options.remove) {
    const removed = await untrustFile(home, file)
    if (cli.globals.json) return cli.json({ file, removed })
    return cli.say(removed ? `${oneLine(file)} is no longer trusted.` : `${oneLine(file)} was not trusted.`)
  }
  const trusted = await trustFile(home, file)
  if (cli.globals.json) cli.json(trusted)
  else cli.out(`${oneLine(trusted.file)}  ${trusted.hash.slice(0, 19)}`)
  cli.say('Trusted as it stands; any change ends that.')
}
