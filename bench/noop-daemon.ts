/** A daemon as users start it, but for the programs of its agents: none is started, and each has said "done" before anybody looks. Prints where it listens. */
import { adapters, presets } from '../src/agents/index.ts'
import { silentLog as log } from '../src/base/log.ts'
import { loadConfig } from '../src/config/config.ts'
import { startDaemon } from '../src/daemon/daemon.ts'
import { nothing } from './nothing.ts'

const config = await loadConfig({ cwd: process.cwd(), adapters, presets, flags: { port: 0 } })
const walls = {
  choose: async () => ({ sandbox: nothing, health: await nothing.probe() }),
  selfTests: { forProfile: async () => ({ passed: true }) as never, assertHolds: async () => undefined },
  views: () => [],
}
const daemon = await startDaemon({ config, log, http: true, serveShared: true, walls })
process.on('SIGTERM', () => void daemon.stop())
console.log(JSON.stringify({ url: daemon.url }))
await daemon.stopped
