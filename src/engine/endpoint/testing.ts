import { type AddressInfo, createServer, type Server } from 'node:net'
import { readRules } from '../../sandbox/egress/host-rule.ts'
import type { NetworkAccess, NetworkEvent } from '../../sandbox/egress/network.ts'
import { listen } from '../../sandbox/egress/testing.ts'
import { type Door, type DoorOptions, serveDoor } from './endpoint.ts'

/** A door with a way out, on the loopback that this test shares with everybody. */
export interface OpenedDoor {
  readonly door: Door
  readonly listener: Server
  readonly port: number
  readonly url: string
  readonly events: NetworkEvent[]
  readonly asked: { host: string; port: number }[]
  /** Gives the door to a run with these rules. */
  bind(lists: Partial<Parameters<typeof readRules>[0]>, access?: Partial<NetworkAccess>): Promise<void>
}

export async function openDoor(options: Partial<DoorOptions> = {}): Promise<OpenedDoor> {
  const listener = createServer()
  await listen(listener)
  const door = serveDoor(listener, { token: 'the-token', ...options })
  const { port } = listener.address() as AddressInfo
  const events: NetworkEvent[] = []
  const asked: { host: string; port: number }[] = []
  const verbs = {
    describe: () => ({ task: 'task_1', run: 'run_1', attempt: 1 }),
    ask: async () => ({ id: 'question_1' }),
    consult: async () => undefined,
    notify: async () => undefined,
  }
  return {
    door,
    listener,
    port,
    url: `http://127.0.0.1:${port}`,
    events,
    asked,
    bind: (lists, access = {}) =>
      door.bind({
        ...verbs,
        network: {
          profile: 'guarded',
          rules: readRules({ allow: [], ask: [], deny: [], ...lists }),
          ask: async (target) => void asked.push(target),
          record: (event) => void events.push(event),
          ...access,
        },
      }),
  }
}
