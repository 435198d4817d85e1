import { type McpServer, RequestError, type SessionInfo } from '@agentclientprotocol/sdk'
import type { Log } from '../../base/log.ts'
import { invalid, messageOf, PawlError } from '../../domain/error.ts'
import { SessionId } from '../../domain/id.ts'
import type { SessionView } from '../../domain/view/view.ts'
import type { Editor } from './editor.ts'
import { folderOf } from './folder.ts'
import { type AcpHome, caller } from './home.ts'
import { type Choices, chosenBy, commandsOf, type Offers, offersFor } from './offers.ts'
import { OpenSession } from './open-session.ts'
import { replay } from './replay.ts'
import { serverEntries } from './servers.ts'

/** What an editor says of a session that it opens, a new one or one of before. */
export interface Opening {
  readonly cwd: string
  readonly mcpServers: readonly McpServer[]
  readonly additionalDirectories?: readonly string[] | undefined
}

/** The sessions that one editor has open. All there is of them lies in the journal: an editor that comes back finds them there. */
export interface Sessions {
  /** The one that is open; others must be loaded first. */
  get(id: string): OpenSession
  find(id: string): OpenSession | undefined
  begin(opening: Opening): Promise<{ session: OpenSession; offers: Offers }>
  /** Goes on with one, telling what was said in it or not. */
  goOn(id: string, opening: Opening, how: { isTold: boolean }): Promise<Offers>
  choose(session: OpenSession, option: string, value: unknown): Promise<Offers>
  list(cwd: string | undefined, cursor: string | undefined): Promise<{ sessions: SessionInfo[]; nextCursor?: string }>
  close(id: string): Promise<void>
  all(): readonly OpenSession[]
}

export function createSessions(options: {
  home: AcpHome
  editor: () => Editor
  /** The agent of new sessions; as the settings of the folder say if left out. */
  agent: string | undefined
  log: Log
}): Sessions {
  const { home, editor, log } = options
  const sessions = new Map<string, OpenSession>()

  const find = async (id: string): Promise<SessionView> => {
    if (!SessionId.safeParse(id).success) throw RequestError.sessionNotFound(id)
    return home
      .use((runtime) => runtime.getSession(id))
      .catch((error: unknown) => {
        throw error instanceof PawlError && error.code === 'not_found' ? RequestError.sessionNotFound(id) : error
      })
  }
  const get = (id: string): OpenSession => {
    const session = sessions.get(id)
    if (!session) throw RequestError.sessionNotFound(id)
    return session
  }
  const open = (view: SessionView, choices: Choices, { servers, refused }: Brought): OpenSession => {
    const session = new OpenSession({ id: view.id, folder: view.workspace, choices, servers, home, editor: editor() })
    sessions.get(view.id)?.leave()
    sessions.set(view.id, session)
    // After the answer that tells the editor of the session.
    setTimeout(() => {
      for (const each of refused) sayRefused(session.id, each)
      commandsOf(home)
        .then((availableCommands) =>
          editor().update(session.id, { sessionUpdate: 'available_commands_update', availableCommands }),
        )
        .catch((error: unknown) => log.warn('the commands were not told', { error: messageOf(error) }))
    }, 0)
    return session
  }
  const sayRefused = (session: string, { name, why }: Brought['refused'][number]) => {
    const title = `The editor's MCP server "${name}" is not given to the agent: ${why}`
    log.warn(title, { session })
    if (editor().showsNotices)
      editor().update(session, { sessionUpdate: 'notice', severity: 'warning', title: title.slice(0, 500) })
  }

  return {
    get,
    find: (id) => sessions.get(id),
    all: () => [...sessions.values()],

    async begin({ cwd, mcpServers, additionalDirectories }) {
      assertOneFolder(additionalDirectories)
      const workspace = await folderOf(cwd)
      const brought = await broughtBy(home, mcpServers)
      const { profile: _, ...chosen } = await home.chooseAgent(workspace, { agent: options.agent, servers: brought.servers })
      // What a task would be refused for is said before the user has written one.
      const place = { workspace, ...(home.allowHome ? { allowHome: true } : {}) }
      await home.use((runtime) => runtime.checkTask({ prompt: 'Begin.', ...place, ...chosen }, caller))
      const view = await home.use((runtime) => runtime.createSession({ ...place, ...chosen }, caller))
      const ownProfile = await profileOf(home, view.workspace, view.agent)
      const choices = { agent: view.agent, profile: ownProfile, ownProfile }
      const offers = await offersFor(home, choices)
      return { session: open(view, choices, await usable(home, brought, view)), offers }
    },

    async goOn(id, { cwd, mcpServers, additionalDirectories }, { isTold }) {
      assertOneFolder(additionalDirectories)
      const view = await find(id)
      if ((await folderOf(cwd)) !== view.workspace)
        throw invalid(`Session ${id} works in ${view.workspace}, not in ${cwd}; open that folder, or begin a new session.`)
      const brought = await broughtBy(home, mcpServers)
      const choices = await lastChoices(home, view)
      const offers = await offersFor(home, choices)
      const session = open(view, choices, await usable(home, brought, { ...view, agent: choices.agent }))
      if (!isTold) return offers
      const { update, settled } = editor()
      const send = (each: Parameters<typeof update>[1]) => update(id, each)
      const last = await replay({ home, session: id, folder: session.folder, send, settled })
      if (last) setTimeout(() => session.takeUp(last), 0)
      return offers
    },

    async choose(session, option, value) {
      const before = session.choices
      const next = chosenBy(before, await offersFor(home, before), option, value)
      const ownProfile = next.agent === before.agent ? before.ownProfile : await profileOf(home, session.folder, next.agent)
      // A profile that nobody chose goes with its agent.
      const profile = next.agent !== before.agent && before.profile === before.ownProfile ? ownProfile : next.profile
      session.choices = { ...next, profile, ownProfile }
      const { agent, model } = next
      await home.use((runtime) => runtime.chooseForSession(session.id, { agent, profile, model }, caller))
      return offersFor(home, session.choices)
    },

    async list(cwd, cursor) {
      const folder = cwd === undefined ? undefined : await folderOf(cwd)
      const found: SessionInfo[] = []
      let next = cursor
      do {
        const at = next
        const page = await home.use((runtime) => runtime.listSessions({ limit: 100, cursor: at }))
        for (const { id, workspace, title, updatedAt } of page.items)
          if (folder === undefined || workspace === folder) found.push({ sessionId: id, cwd: workspace, title, updatedAt })
        next = page.next ?? undefined
      } while (next !== undefined && found.length < listed)
      return { sessions: found, ...(next === undefined ? {} : { nextCursor: next }) }
    },

    async close(id) {
      const session = get(id)
      await session.cancel()
      session.leave()
      sessions.delete(id)
    },
  }
}

const listed = 50

/** The walls of a run are around one folder; more of them are for the settings to open. */
function assertOneFolder(more: readonly string[] = []): void {
  if (more.length > 0)
    throw invalid(`A session works in one folder; leave out ${more.join(', ')}, or open them to the profile with "mounts".`)
}

/** What the editor brings: servers of tools, and why some of them cannot be used. */
type Brought = Awaited<ReturnType<AcpHome['readServers']>>

const broughtBy = async (home: AcpHome, servers: readonly McpServer[]): Promise<Brought> =>
  servers.length === 0 ? { servers: {}, refused: [] } : home.readServers(serverEntries(servers))

/** Not every program can be told of them, and not every agent is open to them. */
async function usable(home: AcpHome, brought: Brought, { agent, workspace }: SessionView): Promise<Brought> {
  const names = Object.keys(brought.servers)
  if (names.length === 0) return brought
  const refuse = (why: string) => ({ servers: {}, refused: [...brought.refused, ...names.map((name) => ({ name, why }))] })
  const { can } = await home.use((runtime) => runtime.getAgent(agent)).catch(unknownAgent)
  if (!can.includes('mcp')) return refuse(`the program of the agent "${agent}" speaks no MCP.`)
  if (!(await home.takesServers(workspace, agent)))
    return refuse(
      `agents.${agent}.mcpServers of Pawl's settings says which servers it has; "all" there lets the editor add its own.`,
    )
  return brought
}

/** What was chosen in a session last: for its next task, or with its last one. */
async function lastChoices(home: AcpHome, view: SessionView): Promise<Choices> {
  const [last] = view.tasks
  const settings = last && (await home.use((runtime) => runtime.getTask(last.id))).settings
  const chosen = view.choices && (!last || view.choices.chosenAt > last.createdAt) ? view.choices : undefined
  const agent = chosen?.agent ?? last?.agent ?? view.agent
  const ownProfile = await profileOf(home, view.workspace, agent)
  if (chosen) return { agent, profile: chosen.profile ?? ownProfile, ownProfile, model: chosen.model }
  const { model: own } = await home.use((runtime) => runtime.getAgent(agent)).catch(unknownAgent)
  const model = settings?.model === own ? undefined : (settings?.model ?? undefined)
  return { agent, profile: settings?.profile ?? ownProfile, ownProfile, model }
}

/** What the agent itself is held to where nobody chooses otherwise. */
async function profileOf(home: AcpHome, folder: string, agent: string): Promise<string> {
  const { agentConfig } = await home.chooseAgent(folder, { agent })
  return agentConfig?.profile ?? (await home.use((runtime) => runtime.getAgent(agent))).profile
}

/** One of a folder's own settings alone is not known to the daemon. */
function unknownAgent(error: unknown): { model: null; can: string[] } {
  if (error instanceof PawlError && error.code === 'not_found') return { model: null, can: ['mcp'] }
  throw error
}
