import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { doorPlaceholder, doorVariable } from './environment.ts'

export interface OpenDoor {
  readonly server: Server
  readonly url: string
}

/** A door on the loopback of this machine, for agents who share it with us. */
export async function openDoor(): Promise<OpenDoor> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Names the door to the agent: in its environment, and wherever the address is left open. */
export function nameDoor(
  command: { args: readonly string[]; env: Readonly<Record<string, string>> },
  url: string,
): { args: string[]; env: Record<string, string> } {
  const placed = (text: string) => text.replaceAll(doorPlaceholder, url)
  const env = Object.fromEntries(Object.entries(command.env).map(([name, value]) => [name, placed(value)]))
  return { args: command.args.map(placed), env: { ...env, [doorVariable]: url } }
}
