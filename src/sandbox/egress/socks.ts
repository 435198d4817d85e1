import type { Socket } from 'node:net'
import { PawlError } from '../../domain/error.ts'
import type { Network, Via } from './network.ts'
import { idleMs } from './relay.ts'
import { readerOf, type SocketReader } from './socket-reader.ts'
import { tunnel } from './tunnel.ts'

export const isSocks = (firstByte: number) => firstByte === 4 || firstByte === 5

/** What the client wants, and how it is answered. */
interface Wish {
  readonly host: string
  readonly port: number
  readonly via: Via
  readonly granted: Buffer
  refused(error: unknown): Buffer
}

/** Serves one connection that speaks SOCKS 4, 4a or 5. Only CONNECT; names are resolved here, by the rules. */
export async function serveSocks(client: Socket, currentNetwork: () => Promise<Network>, patienceMs: number): Promise<void> {
  const tooSlow = setTimeout(() => client.destroy(), patienceMs)
  const reader = readerOf(client)
  const wish = await readWish(reader, client).finally(() => clearTimeout(tooSlow))
  if (!wish) return void client.end(() => client.destroySoon())
  try {
    const network = await currentNetwork()
    network.keep(client)
    const upstream = await network.open(wish.host, wish.port, wish.via)
    client.write(wish.granted)
    reader.release()
    tunnel(client, upstream, idleMs)
  } catch (error) {
    client.end(wish.refused(error), () => client.destroySoon())
  }
}

async function readWish(reader: SocketReader, client: Socket): Promise<Wish | undefined> {
  const [version] = await reader.take(1)
  return version === 4 ? readWish4(reader, client) : readWish5(reader, client)
}

async function readWish4(reader: SocketReader, client: Socket): Promise<Wish | undefined> {
  const head = await reader.take(7)
  await reader.takeUntilZero(255)
  const address = head.subarray(3)
  // 0.0.0.x with x set means: the name follows.
  const isNamed = address[0] === 0 && address[1] === 0 && address[2] === 0 && address[3] !== 0
  const host = isNamed ? (await reader.takeUntilZero(255)).toString('latin1') : address.join('.')
  const answer = (code: number) => Buffer.from([0, code, 0, 0, 0, 0, 0, 0])
  if (head[0] !== 1) {
    client.write(answer(91))
    return undefined
  }
  return { host, port: head.readUInt16BE(1), via: 'socks4', granted: answer(90), refused: () => answer(91) }
}

async function readWish5(reader: SocketReader, client: Socket): Promise<Wish | undefined> {
  const methods = await reader.take((await reader.take(1))[0]!)
  // Whoever connects is the run; a name and a password are read because some clients insist on sending them.
  const method = methods.includes(0) ? 0 : methods.includes(2) ? 2 : 255
  client.write(Buffer.from([5, method]))
  if (method === 255) return undefined
  if (method === 2) {
    await reader.take(1)
    for (let field = 0; field < 2; field++) await reader.take((await reader.take(1))[0]!)
    client.write(Buffer.from([1, 0]))
  }
  const answer = (code: number) => Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0])
  const [, command, , kind] = await reader.take(4)
  const host = await readHost5(reader, kind)
  if (host === undefined || command !== 1) {
    client.write(answer(host === undefined ? 8 : 7))
    return undefined
  }
  const port = (await reader.take(2)).readUInt16BE(0)
  return { host, port, via: 'socks5', granted: answer(0), refused: (error) => answer(codeOf(error)) }
}

async function readHost5(reader: SocketReader, kind: number | undefined): Promise<string | undefined> {
  if (kind === 1) return (await reader.take(4)).join('.')
  if (kind === 3) return (await reader.take((await reader.take(1))[0]!)).toString('latin1')
  if (kind !== 4) return undefined
  const groups = (await reader.take(16)).toString('hex').match(/.{4}/g) ?? []
  return `[${groups.join(':')}]`
}

/** "Not allowed by the rules", "host unreachable", or "it failed". */
function codeOf(error: unknown): number {
  if (!(error instanceof PawlError)) return 1
  return error.code === 'denied' || error.code === 'conflict' ? 2 : 4
}
