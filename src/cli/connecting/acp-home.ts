import { pause } from '../../client/transport/follow.ts'
import { clientSettings } from '../../config/config.ts'
import { PawlError, unavailable } from '../../domain/error.ts'
import type { Runtime } from '../../operations/runtime.ts'
import type { AcpHome } from '../../surfaces/acp/home.ts'
import { Cli } from '../terminal/cli.ts'
import { type Connection, type ConnectOptions, connect, connectToDaemon } from './connect.ts'

/** How long a daemon may be away before an editor is told that it is. */
const patienceMs = 120_000
const lookEveryMs = 200
/** Whoever does not answer may have come back elsewhere. */
const how: ConnectOptions = { work: 'own', isForNewTask: true, name: 'acp', patienceMs: 0 }

/**
 * The Pawl of a home, for as long as an editor is there: its daemon, looked for anew whenever it has gone away, also at another address, or an engine in this process if
 * there was none when the first thing was asked.
 */
export async function openAcpHome(cli: Cli): Promise<AcpHome & { close(): Promise<void> }> {
  let connection = await connect(cli, how)
  let looking: Promise<void> | undefined
  const { isDaemon } = connection

  /** Resolves when there is a daemon again. */
  const reconnect = (lost: Connection): Promise<void> => {
    if (connection !== lost) return Promise.resolve()
    looking ??= findAgain().finally(() => {
      looking = undefined
    })
    return looking
  }
  const findAgain = async () => {
    const since = performance.now()
    for (;;) {
      // A daemon that is killed seems to live for a moment after its connections are cut; what comes of it must not be an engine of our own.
      const next = await connectToDaemon(cli, how)
      if (next && (await isThere(next.runtime))) {
        await connection.close()
        connection = next
        return
      }
      await next?.close()
      if (performance.now() - since > patienceMs)
        throw unavailable(
          `The Pawl daemon has been away for ${patienceMs / 1000} s; start one with "pawl serve". What was asked for is stored, and goes on then.`,
        )
      await pause(lookEveryMs, undefined)
    }
  }
  const isAway = (error: unknown) => isDaemon && error instanceof PawlError && error.code === 'unavailable'

  return {
    isOwn: !isDaemon,
    async use(ask) {
      for (;;) {
        const asked = connection
        try {
          return await ask(asked.runtime)
        } catch (error) {
          if (!isAway(error) || (await isThere(asked.runtime))) throw error
          await reconnect(asked)
        }
      }
    },
    async *follow(task, { signal, onGrowing, ...from }) {
      let { after } = from
      while (!signal.aborted) {
        const asked = connection
        try {
          for await (const batch of asked.runtime.followEvents(task, { after, signal, attends: true, onGrowing }))
            for (const event of batch) {
              if (event.seq <= after) continue
              after = event.seq
              yield event
            }
        } catch (error) {
          if (signal.aborted) return
          if (!isAway(error)) throw error
          await reconnect(asked)
        }
      }
    },
    async chooseAgent(folder, { agent, profile, servers = {} }) {
      const at = new Cli(folder)
      at.globals = cli.globals
      const settings = await clientSettings({ cwd: folder, ...cli.globals })
      const named = agent ?? settings.agent
      const hasServers = Object.keys(servers).length > 0
      if (isDaemon && settings.projectFile === undefined && !hasServers) return { agent: named, profile }
      const { readSettings, resolveAgent } = await import('./settings.ts')
      const config = await readSettings(at, { askTrust: true })
      const { agentConfig, ...chosen } = await resolveAgent(at, config, named, profile)
      if (!agentConfig) return chosen
      if (!hasServers || config.agentsWithChosenServers.includes(agentConfig.name)) return { ...chosen, agentConfig }
      // What the owner of this home has written under a name is what that name means.
      return { ...chosen, agentConfig: { ...agentConfig, mcpServers: { ...servers, ...agentConfig.mcpServers } } }
    },
    async takesServers(folder, agent) {
      const at = new Cli(folder)
      at.globals = cli.globals
      const { readSettings } = await import('./settings.ts')
      return !(await readSettings(at, { askTrust: true })).agentsWithChosenServers.includes(agent)
    },
    async readServers(entries) {
      const { readServerEntries } = await import('../../config/mcp-server-entry.ts')
      return readServerEntries(entries)
    },
    adopt: (task) => connection.adopt(task),
    close: () => connection.close(),
  }
}

/** Of those that answer with `unavailable`, some are there and say that they can take no work. */
const isThere = (runtime: Runtime) =>
  runtime.health().then(
    () => true,
    (error: unknown) => !(error instanceof PawlError && error.code === 'unavailable'),
  )
