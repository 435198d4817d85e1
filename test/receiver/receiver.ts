import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Received } from './program.ts'

export type { Received }

export interface Receiver {
  readonly port: number
  /** All that came, in its order. */
  readonly received: Received[]
  url(path: string): string
  /** What came under a path. */
  at(path: string): Received[]
  stop(): Promise<void>
}

/** A real receiver in a process of its own. */
export async function startReceiver(): Promise<Receiver> {
  const child = fork(fileURLToPath(new URL('./program.ts', import.meta.url)), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const received: Received[] = []
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  child.on('message', (message: Received) => received.push(message))
  return {
    port,
    received,
    url: (path) => `http://127.0.0.1:${port}${path}`,
    at: (path) => received.filter((one) => one.path === path),
    async stop() {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}
