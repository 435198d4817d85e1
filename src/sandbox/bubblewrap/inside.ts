import type { Server } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Exit } from '../process/child.ts'
import type { Started } from '../process/spawn.ts'
import { fds } from './init.ts'

/** What inside waits for. If we are dead before we say `go`, it notices and ends, and no agent starts. */
export interface Inside {
  readonly server?: Server
  go(): void
}

export function greeting(started: Started): Promise<Inside> {
  return new Promise((done, fail) => {
    const channel = stdio(started)[fds.channel] as Duplex
    channel.once('data', () => done({ go: () => void channel.end('go\n') }))
    channel.on('error', () => channel.destroy())
    void started.exited.then((exit) => fail(endedEarly(exit)))
  })
}

export function listener(started: Started): Promise<Inside> {
  const { process: child, exited } = started
  return new Promise((done, fail) => {
    const go = () => void child.send('go', () => child.connected && child.disconnect())
    child.once('message', (_: unknown, server: unknown) => done({ server: server as Server, go }))
    void exited.then((exit) => fail(endedEarly(exit)))
  })
}

/** Node's type names five descriptors; there are as many as were asked for. */
export const stdio = (started: Started): readonly unknown[] => started.process.stdio

export const endedEarly = ({ code, signal }: Exit) =>
  new Error(`it ended with ${signal ?? `exit code ${code}`} before the agent started.`)

export function urlOf(server: Server): string {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the listener inside has no address.')
  return `http://127.0.0.1:${address.port}`
}
