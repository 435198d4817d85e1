import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { linesOf } from '../../domain/base/lines-of.ts'
import { invalid } from '../../domain/error.ts'
import type { Cli } from '../terminal/cli.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Take in what "pawl export" has printed, beside what is here. Tasks that are here already are skipped, so the same file may be read again. Tasks that had not ended go on here.',
    )
    .argument('<file>', 'the export')
    .addHelpText('after', '\nExample\n  pawl import everything.jsonl')
    .action((file: string) => take(cli, resolve(cli.cwd, file)))
}

async function take(cli: Cli, file: string): Promise<void> {
  const { readUsableSettings } = await import('../connecting/settings.ts')
  const { openRuntime } = await import('../../daemon/daemon.ts')
  const { ownLog } = await import('../terminal/own-log.ts')
  const { config } = await readUsableSettings(cli)
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    throw invalid(`The file ${file} cannot be read (${error.code}).`)
  })
  const own = await openRuntime({ config, log: ownLog(cli, config) })
  try {
    const done = await own.runtime.importTasks(linesOf(handle.createReadStream({ encoding: 'utf8' })), { by: 'cli' })
    if (cli.globals.json) cli.json(done)
    else cli.out(`${done.imported.length} tasks imported, ${done.skipped.length} were here already`)
    if (done.isWhole) return
    cli.exitCode = 1
    cli.say(
      done.cut === null
        ? 'Lines of the file are missing: it was cut. Read a whole file again; what is here by then is skipped.'
        : `The file ends within task ${done.cut}, which was not taken; read a whole file again, the rest is skipped.`,
    )
  } finally {
    await own.stop()
  }
}
