import type { Log } from '../../base/log.ts'
import type { McpServers } from '../../domain/agent/mcp-server.ts'
import { serveProtocol, type ToolServer } from '../mcp/serve.ts'
import type { Permit } from '../strict/strict-parts.ts'
import type { ServerPlace } from './port.ts'
import { createRelay } from './relay.ts'
import { createUpstream, type Telling } from './upstream.ts'

export interface RunServersParts {
  readonly servers: McpServers
  readonly place: ServerPlace
  readonly permit: Permit
  isOffered(tool: string): boolean
  telling(name: string): Telling
  readonly log: Log
}

/** Some programs ask their model before slow servers have told of their tools; one that is silent must not keep a run for ever. */
const patienceMs = 20_000

/** Our tools, and the user's servers as one run has them, each at an address of its own. All are begun with at once: the program asks for them when it starts. */
export function besideOurs(ours: ToolServer, { servers, place, permit, isOffered, telling, log }: RunServersParts): ToolServer {
  const upstreams = Object.entries(servers).map(([name, server]) => createUpstream(name, server, place, telling(name)))
  const doors = new Map<string, ToolServer>(
    upstreams.map((upstream) => {
      const relay = createRelay(upstream, { permit, isOffered, log, trace: place.trace })
      return [upstream.name, serveProtocol(async () => relay, log)]
    }),
  )
  // Whether it works is told by whoever asks for it, and by `telling`.
  const begun = upstreams.map((upstream) => upstream.get().catch(() => undefined))
  const doorOf = (name: string | undefined) => (name === undefined ? undefined : doors.get(name))
  return {
    settled: Promise.race([Promise.all(begun), new Promise((late) => setTimeout(late, patienceMs).unref())]),
    async handle(request, response, name) {
      const door = doorOf(name)
      return door ? door.handle(request, response) : ours.handle(request, response, name)
    },
    async exchange(message, { server, signal }) {
      const door = doorOf(server)
      return door ? door.exchange(message, { signal }) : ours.exchange(message, { server, signal })
    },
    async close() {
      const ending = [ours, ...doors.values()].map((door) => door.close())
      await Promise.allSettled(upstreams.map((upstream) => upstream.close()))
      await Promise.allSettled(ending)
    },
  }
}
