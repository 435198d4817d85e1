import { unavailable } from '../domain/error.ts'
import { isAlive } from '../sandbox/process/identity.ts'
import { stopEmbedded } from '../store/embedded/server.ts'
import { findDaemon } from './machine/run-file.ts'

/** Stops the daemon of a home, then its database. Tasks that run go back to the queue. */
export async function stopEverything(
  home: string,
): Promise<{ daemon: 'stopped' | 'not_running'; database: 'stopped' | 'not_running' }> {
  const daemon = await findDaemon(home)
  if (daemon) {
    const { createClient } = await import('../client/index.ts')
    const client = createClient(daemon)
    // One that does not answer is asked by signal; its own handler stops it the same way.
    await client.shutdown().catch(() => process.kill(daemon.pid, 'SIGTERM'))
    for (let waitedMs = 0; isAlive(daemon) !== false; waitedMs += 50) {
      if (waitedMs > 20_000)
        throw unavailable(`The daemon (pid ${daemon.pid}) did not stop within 20 s; end it with: kill -9 ${daemon.pid}`)
      await new Promise((again) => setTimeout(again, 50))
    }
  }
  return { daemon: daemon ? 'stopped' : 'not_running', database: await stopEmbedded(home) }
}
