import type { Adapter } from '../../agents/port.ts'
import { chosenServers, type McpServers } from '../../domain/agent/mcp-server.ts'
import { decide } from '../../domain/profile/decide.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import type { NetworkAccess } from '../../sandbox/egress/network.ts'
import type { Sandbox, Walls } from '../../sandbox/port.ts'
import type { TakenRun } from '../../store/runs.ts'
import { mostTools } from '../../tools/servers/port.ts'
import { type RunContext, spanned } from '../base/run-context.ts'
import type { RunServices } from '../base/run-services.ts'
import type { DoorVerbs } from '../endpoint/endpoint.ts'
import { type ServersOfRun, toolHome } from '../endpoint/run-tools.ts'
import type { ServerHealth } from './health.ts'
import { launchServer, type ServerWalls, unseenInside } from './launch.ts'
import { reachServer } from './reach.ts'
import { revealer } from './reveal.ts'

/** Where the run is that the servers work for. */
interface ServedPlace {
  readonly adapter: Adapter
  readonly profile: Profile
  readonly sandbox: Sandbox
  readonly walls: Omit<Walls, 'door'>
  readonly records: string
  readonly voice: RunContext
}

/** Those that the agent has and the profile lets it have. */
export const serversFor = (
  { task }: Pick<TakenRun, 'task'>,
  { profile, adapter }: Pick<ServedPlace, 'profile' | 'adapter'>,
): McpServers => (adapter.can.mcp ? chosenServers(task.agent_config.mcpServers ?? {}, profile.mcpServers) : {})

export function serversOfRun(
  taken: TakenRun,
  parts: Pick<RunServices, 'path' | 'environment' | 'secretsFor' | 'contexts' | 'serverTokens'> & {
    readonly serverHealth?: ServerHealth | undefined
  },
  place: ServedPlace,
  { verbs, network }: { readonly verbs: DoorVerbs; readonly network: NetworkAccess | undefined },
): ServersOfRun | undefined {
  const servers = serversFor(taken, place)
  if (Object.keys(servers).length === 0) return undefined
  const { run, task } = taken
  const { profile, sandbox, walls, voice } = place
  let started = 0
  const inside: ServerWalls = {
    sandbox,
    walls: { ...walls, home: toolHome(place) },
    unit: () => sandbox.killUnit(`${run.id}-server-${++started}`, run.fence),
    path: parts.path,
    network,
    verbs,
    log: voice.log,
  }
  const told = new Set<string>()
  const say = (code: string, sentence: string) => {
    if (told.has(sentence)) return
    told.add(sentence)
    void Promise.resolve(voice.note(code, sentence)).catch(() => undefined)
  }
  return {
    servers,
    place: {
      launch: (command) => launchServer(command, inside),
      unseen: (paths) => unseenInside(paths, inside),
      reach: (url, { others }) =>
        reachServer(url, {
          others,
          profile,
          log: voice.log,
          record: (event) => void Promise.resolve(voice.recordEvent(event)).catch(() => undefined),
        }),
      reveal: revealer({ agent: task.agent, user: task.user_name }, { ...parts, hide: voice.hide }),
      tokens: parts.serverTokens,
      trace: parts.contexts?.ofTurn(spanned(taken)),
      workspace: walls.workspace.path,
      ask: (questions) => verbs.consult(questions.map(({ text, options }) => ({ kind: 'free', text, options: [...options] }))),
    },
    isOffered: (tool) => isOffered(profile, tool),
    telling: (name) => ({
      onReached(facts) {
        parts.serverHealth?.reached(name, servers[name]!, facts, 'run')
        if (facts.tools.length > mostTools)
          say(
            'mcp_server_tools',
            `The server "${name}" has ${facts.tools.length} tools, and the agent is told of the first ${mostTools} at most; leave out what is not needed with "tools.disabled" of the profile.`,
          )
      },
      onFailed(sentence, isSignIn) {
        parts.serverHealth?.failed(name, servers[name]!, sentence, isSignIn, 'run')
        say('mcp_server_failed', sentence)
      },
    }),
  }
}

/** One that the profile disables is not even shown. */
const isOffered = (profile: Profile, tool: string) => decide(profile, { tool, input: {} }).from !== 'tools.disabled'
