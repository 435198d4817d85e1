import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

/** A way to a server that can fall silent as networks do: nobody is told, nothing is closed, and nothing arrives. */
export interface SilentProxy {
  readonly port: number
  /** Nothing passes any more on the connections that there are now, for good. */
  silence(): void
  /** The server gives up those that fell silent, as it does when nobody confirms what it sends. */
  giveUp(): void
  /** Nothing passes on any connection, new ones included, until `goOn`; then all of it arrives. */
  stall(): void
  goOn(): void
  close(): void
}

export async function silentProxy(to: NetConnectOpts): Promise<SilentProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  const silent = new Set<Socket>()
  let isStalled = false
  const server = createServer((near) => {
    const far = connect(to)
    const pair = [near, far] as const
    pairs.add(pair)
    for (const [from, into] of [pair, [far, near] as const]) {
      from.pipe(into)
      from.on('error', () => into.destroy()).on('close', () => into.destroy())
    }
    if (isStalled) for (const one of pair) one.pause()
    near.on('close', () => pairs.delete(pair))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const each = (work: (one: Socket) => void) => {
    for (const pair of pairs) for (const one of pair) work(one)
  }
  return {
    port: (server.address() as AddressInfo).port,
    silence() {
      each((one) => silent.add(one.unpipe().removeAllListeners('data').pause()))
    },
    giveUp() {
      for (const one of silent) one.destroy()
      silent.clear()
    },
    stall() {
      isStalled = true
      each((one) => one.pause())
    },
    goOn() {
      isStalled = false
      each((one) => one.resume())
    },
    close() {
      server.close()
      each((one) => one.destroy())
    },
  }
}
