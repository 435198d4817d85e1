import { createLog, type Log } from '../../base/log.ts'
import type { Config } from '../../config/config.ts'
import type { Cli } from './cli.ts'
import { nameSources } from './source-places.ts'
import { print } from './terminal.ts'

/** The log of an engine that lives in a command: on stderr, and only what went wrong, unless more was asked for. */
export function ownLog(cli: Cli, config: Config): Log {
  const asked = config.sources['log.level'] !== undefined && config.sources['log.level'] !== 'default'
  return createLog({
    level: asked ? config.log.level : 'error',
    format: config.log.format === 'json' ? 'json' : 'text',
    write: (line) => print(process.stderr, `${cli.style('faint', nameSources(line))}\n`),
    now: () => Date.now(),
  })
}
