import {
  type AgentConnection,
  type AuthMethod,
  agent,
  type ClientCapabilities,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type Stream,
} from '@agentclientprotocol/sdk'
import type { Log } from '../../base/log.ts'
import { traceContextOf } from '../../domain/base/trace-context.ts'
import { invalid, messageOf, PawlError, stackOf } from '../../domain/error.ts'
import { createEditor, type Editor } from './editor.ts'
import { authRequired, requestError } from './errors.ts'
import type { AcpHome } from './home.ts'
import { optionIds } from './offers.ts'
import { createSessions } from './sessions.ts'

export interface AcpOptions {
  readonly home: AcpHome
  readonly stream: Stream
  /** The agent of new sessions; as the settings of the folder say if left out. */
  readonly agent?: string | undefined
  readonly version: string
  /** What becomes of tasks that run when the editor goes away. */
  readonly whenGone: 'continue' | 'cancel'
  readonly log: Log
}

export interface AcpService {
  /** When the editor is gone and nothing is left to be done for it. */
  readonly closed: Promise<void>
}

/** Serves one editor: sessions are ours, a prompt is a task, and whatever happens to it is told as it becomes durable. */
export function serveAcp({ home, stream, agent: named, version, whenGone, log }: AcpOptions): AcpService {
  let capabilities: ClientCapabilities = {}
  let editor: Editor | undefined
  const theEditor = (): Editor => {
    editor ??= createEditor({
      client: connection.client,
      capabilities,
      onFailure: (what, error) => {
        if (!connection.signal.aborted) log.warn(`${what} did not reach the editor`, { error: messageOf(error) })
      },
    })
    return editor
  }
  const sessions = createSessions({ home, editor: theEditor, agent: named, log })

  const app = agent({ name: 'pawl' })
    .onRequest(methods.agent.initialize, ({ params }) =>
      answered(async () => {
        capabilities = params.clientCapabilities ?? {}
        editor = undefined
        return {
          protocolVersion: PROTOCOL_VERSION,
          agentInfo: { name: 'pawl', title: 'Pawl', version },
          agentCapabilities: {
            loadSession: true,
            promptCapabilities: { image: true, audio: false, embeddedContext: true },
            mcpCapabilities: { http: true, sse: false },
            sessionCapabilities: { list: {}, resume: {}, close: {} },
          },
          authMethods: await authMethods(),
        }
      }),
    )
    .onRequest(methods.agent.authenticate, ({ params }) =>
      answered(async () => {
        if (!(await authMethods()).some(({ id }) => id === params.methodId))
          throw invalid(`There is no way to log in that is called "${params.methodId}".`)
        const { health } = await home.use((runtime) => runtime.getAgent(params.methodId))
        if (health.loggedIn === false) throw authRequired(`${health.detail}${health.fix ? ` ${health.fix}` : ''}`)
        return {}
      }),
    )
    .onRequest(methods.agent.session.new, ({ params }) =>
      answered(async () => {
        const { session, offers } = await sessions.begin(params)
        return { sessionId: session.id, ...offers }
      }),
    )
    .onRequest(methods.agent.session.load, ({ params }) =>
      answered(() => sessions.goOn(params.sessionId, params, { isTold: true })),
    )
    .onRequest(methods.agent.session.resume, ({ params }) =>
      answered(() => sessions.goOn(params.sessionId, { ...params, mcpServers: params.mcpServers ?? [] }, { isTold: false })),
    )
    .onRequest(methods.agent.session.list, ({ params }) =>
      answered(() => sessions.list(params.cwd ?? undefined, params.cursor ?? undefined)),
    )
    .onRequest(methods.agent.session.close, ({ params }) =>
      answered(async () => {
        await sessions.close(params.sessionId)
        return {}
      }),
    )
    .onRequest(methods.agent.session.setMode, ({ params }) =>
      answered(async () => {
        const session = sessions.get(params.sessionId)
        const { configOptions } = await sessions.choose(session, optionIds.profile, params.modeId)
        theEditor().update(session.id, { sessionUpdate: 'config_option_update', configOptions })
        return {}
      }),
    )
    .onRequest(methods.agent.session.setConfigOption, ({ params }) =>
      answered(async () => {
        const session = sessions.get(params.sessionId)
        const before = session.choices.profile
        const { configOptions, modes } = await sessions.choose(session, params.configId, params.value)
        if (modes.currentModeId !== before)
          theEditor().update(session.id, { sessionUpdate: 'current_mode_update', currentModeId: modes.currentModeId })
        return { configOptions }
      }),
    )
    .onRequest(methods.agent.session.prompt, ({ params, signal }) =>
      answered(async () => {
        const trace = traceContextOf(params._meta)
        const response = await sessions.get(params.sessionId).prompt(params.prompt, { signal: cancelledBy(signal), trace })
        await theEditor().settled()
        return response
      }),
    )
    .onNotification(methods.agent.session.cancel, async ({ params }) => {
      const cancelled = sessions.find(params.sessionId)?.cancel()
      await cancelled?.catch((error: unknown) => log.warn('a turn was not cancelled', { error: messageOf(error) }))
    })
  const connection: AgentConnection = app.connect(stream)
  return { closed: connection.closed.catch(() => undefined).then(part) }

  /** A request ends when it is taken back, and when the connection ends, which is no wish that anything stop. */
  function cancelledBy(signal: AbortSignal): AbortSignal {
    const cancelled = new AbortController()
    const decide = () => {
      if (!connection.signal.aborted) cancelled.abort()
    }
    signal.addEventListener('abort', () => setImmediate(decide), { once: true })
    return cancelled.signal
  }

  /** The editor is gone: it may have been closed, or have died. */
  async function part(): Promise<void> {
    const all = sessions.all()
    if (whenGone === 'cancel') await Promise.allSettled(all.map((session) => session.cancel()))
    // An engine of our own must live as long as what it does; a daemon needs nobody.
    if (!home.isOwn) for (const session of all) session.leave()
    await Promise.allSettled(all.map((session) => session.rest()))
  }

  async function answered<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof PawlError || error instanceof RequestError))
        log.error('a request of the editor failed', { error: messageOf(error), stack: stackOf(error) })
      throw requestError(error)
    }
  }

  /** The programs of agents have logins of their own, which are made with the program itself. */
  async function authMethods(): Promise<AuthMethod[]> {
    const agents = await home.use((runtime) => runtime.listAgents())
    return agents
      .filter((one) => one.login !== null && one.health.installed && (named === undefined ? one.isDefault : one.name === named))
      .map(({ name, title, health, login }) => ({
        id: name,
        name: `Log in to ${title}`,
        description:
          health.fix ?? `Log in with the program itself${login?.variables[0] ? `, or set ${login.variables[0]}` : ''}.`,
      }))
  }
}
