/**
 * Starts a daemon for the official compatibility kit of A2A (`a2aproject/a2a-tck`): what becomes of a message is decided by its id. Otherwise it is `pawl serve --port PORT`:
 * `PAWL_HOME=… node test/a2a/kit/serve.ts PORT`.
 */
import { adapters } from '../../../src/agents/index.ts'
import { createLog } from '../../../src/base/log.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { startDaemon } from '../../../src/daemon/daemon.ts'
import { planMessage } from './plan.ts'

const write = (line: string) => process.stderr.write(`${line}\n`)
const log = createLog({ level: 'info', format: 'json', write, now: () => Date.now() })
const config = await loadConfig({ adapters, cwd: process.cwd(), env: process.env, flags: { port: Number(process.argv[2] ?? 0) } })
const daemon = await startDaemon({ config, log, http: true, serveShared: true, conformance: { a2a: planMessage } })
console.log(daemon.url)
const stop = () => void daemon.stop()
process.on('SIGTERM', stop).on('SIGINT', stop)
