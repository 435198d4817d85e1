import { readFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { invalid, messageOf } from '../../domain/error.ts'
import type { Cli } from '../terminal/cli.ts'
import { echoFilter } from '../terminal/interrupt.ts'
import { nameSources } from '../terminal/source-places.ts'
import { print } from '../terminal/terminal.ts'
import { oneLine } from '../text/plain.ts'

interface ServeOptions {
  port?: number
  host?: string
  insecurePlainHttp?: boolean
  tlsCert?: string
  tlsKey?: string
}

export function define(command: Command, cli: Cli): void {
  command
    .description("Start this home's daemon and stay: queue, workers, HTTP. Ctrl-C stops it with grace, twice at once.")
    .option('--port <number>', 'listen here (PAWL_PORT); 7295 or a free one if left out', parsePort)
    .option('--host <address>', 'listen on this address (PAWL_HOST); 127.0.0.1 if left out')
    .option('--insecure-plain-http', 'allow an address that others can reach, without encryption')
    .option('--tls-cert <file>', 'speak TLS with this certificate chain (PEM)')
    .option('--tls-key <file>', 'its key (PEM)')
    .addHelpText('after', '\nExamples\n  pawl serve\n  pawl serve --port 0 --json')
    .action(async (options: ServeOptions) => {
      cli.exitCode = await serve(cli, options)
    })
}

async function serve(cli: Cli, options: ServeOptions): Promise<number> {
  const [{ startDaemon }, { readSettings, sayUntrusted }, { createLog }, { closeLeaking }] = await Promise.all([
    import('../../daemon/daemon.ts'),
    import('../connecting/settings.ts'),
    import('../../base/log.ts'),
    import('../../sandbox/process/descriptors.ts'),
  ])
  const flags = { port: options.port, host: options.host }
  let config = await readSettings(cli, { askTrust: false, flags })
  if (config.untrusted && cli.isInteractive) {
    // Whoever starts the daemon in a folder by hand has chosen that folder's settings, for this daemon.
    const { file, keys } = config.untrusted
    cli.say(
      `This daemon trusts ${oneLine(file)}, because it was started here by hand: ${keys.map((key) => oneLine(key, 100)).join(', ')}`,
    )
    config = await readSettings(cli, { askTrust: false, flags: { ...flags, trust: true } })
  } else if (config.untrusted) sayUntrusted(cli, config.untrusted)
  const tls = await readTls(cli, options, config.server.tls)
  const format = config.log.format === 'auto' ? (process.stderr.isTTY ? 'text' : 'json') : config.log.format
  const log = createLog({
    level: cli.globals.quiet ? 'error' : config.log.level,
    format,
    write: (line) => print(process.stderr, `${nameSources(line)}\n`),
    now: () => Date.now(),
  })
  closeLeaking()
  let signals = 0
  const isEcho = echoFilter()
  const heard = (signal: NodeJS.Signals) => {
    if (isEcho()) return
    // Still starting, or asked a second time: nothing is lost by a hard end, it only costs the next start a moment.
    if (++signals > 1 || !daemon) process.exit(128 + constants.signals[signal])
    log.info('stopping', { signal })
    void daemon.stop()
  }
  let daemon: Awaited<ReturnType<typeof startDaemon>> | undefined
  process.on('SIGINT', heard).on('SIGTERM', heard).on('SIGHUP', heard)
  daemon = await startDaemon({
    config,
    http: true,
    log,
    serveShared: true,
    ...(options.insecurePlainHttp ? { insecurePlainHttp: true } : {}),
    tls,
  })
  if (cli.globals.json) cli.json({ url: daemon.url, home: config.home, pid: process.pid })
  else {
    cli.out(`Pawl listens at ${daemon.url} (home ${oneLine(config.home)}, token in its file "token").`)
    // In a checkout the command is not on anybody's PATH.
    const pawl = import.meta.url.endsWith('.ts') ? 'npx pawl' : 'pawl'
    cli.out(`Try it, in another terminal: ${pawl} run --agent demo "look around"`)
    cli.out(`Stop it: Ctrl-C here, or "${pawl} stop".`)
  }
  await daemon.stopped
  return 0
}

async function readTls(
  cli: Cli,
  { tlsCert, tlsKey }: ServeOptions,
  configured: { cert: string; key: string } | null,
): Promise<{ cert: string; key: string } | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) {
    if (!configured) return undefined
    return { cert: await read('server.tls.cert', configured.cert), key: await read('server.tls.key', configured.key) }
  }
  if (tlsCert === undefined || tlsKey === undefined) throw invalid('TLS needs both: --tls-cert and --tls-key.')
  return { cert: await read('--tls-cert', tlsCert), key: await read('--tls-key', tlsKey) }

  function read(option: string, file: string): Promise<string> {
    return readFile(resolve(cli.cwd, file), 'utf8').catch((error: unknown) => {
      throw invalid(`${option}: ${messageOf(error)}.`)
    })
  }
}

function parsePort(written: string): number {
  const port = Number(written)
  if (!/^\d{1,5}$/.test(written) || port > 65_535) throw invalid('--port must be a port from 0 to 65535.')
  return port
}
