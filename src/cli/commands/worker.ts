import { constants } from 'node:os'
import type { Command } from 'commander'
import type { Cli } from '../terminal/cli.ts'
import { echoFilter } from '../terminal/interrupt.ts'
import { nameSources } from '../terminal/source-places.ts'
import { print } from '../terminal/terminal.ts'
import { oneLine } from '../text/plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Take tasks from the queue of a database and run them here, without HTTP, beside whatever serves it. Ctrl-C stops it with grace, twice at once; what it ran goes on elsewhere.',
    )
    .addHelpText(
      'after',
      `
Example
  pawl worker

Every process on the same database shares one queue: "pawl serve" once, "pawl worker" as often as you like, on this machine or on
others. With --database-url postgres://… it joins that database, without it that of this home. A worker that dies loses nothing: another one goes on.`,
    )
    .action(async () => {
      cli.exitCode = await work(cli)
    })
}

async function work(cli: Cli): Promise<number> {
  const [{ startDaemon }, { readSettings, sayUntrusted }, { createLog }] = await Promise.all([
    import('../../daemon/daemon.ts'),
    import('../connecting/settings.ts'),
    import('../../base/log.ts'),
  ])
  const config = await readSettings(cli, { askTrust: false })
  if (config.untrusted) sayUntrusted(cli, config.untrusted)
  const log = createLog({
    level: cli.globals.quiet ? 'error' : config.log.level,
    format: config.log.format === 'auto' ? (process.stderr.isTTY ? 'text' : 'json') : config.log.format,
    write: (line) => print(process.stderr, `${nameSources(line)}\n`),
    now: () => Date.now(),
  })
  let worker: Awaited<ReturnType<typeof startDaemon>> | undefined
  let signals = 0
  const isEcho = echoFilter()
  const heard = (signal: NodeJS.Signals) => {
    if (isEcho()) return
    // Still starting, or asked a second time: nothing is lost by a hard end.
    if (++signals > 1 || !worker) process.exit(128 + constants.signals[signal])
    log.info('stopping', { signal })
    void worker.stop()
  }
  process.on('SIGINT', heard).on('SIGTERM', heard).on('SIGHUP', heard)
  worker = await startDaemon({ config, http: false, log, serveShared: true })
  const { database } = await worker.runtime.health()
  if (cli.globals.json) cli.json({ home: config.home, pid: process.pid, database })
  else {
    cli.out(
      `Pawl takes tasks here (${database.kind === 'embedded' ? 'the database of this home' : 'the database named'}, home ${oneLine(config.home)}).`,
    )
    cli.out('Stop it: Ctrl-C.')
  }
  await worker.stopped
  return 0
}
