import { join } from 'node:path'
import type { ResolvedAgent } from '../domain/agent/agent-config.ts'
import { invalid, notFound, PawlError } from '../domain/error.ts'
import { newId, SessionId } from '../domain/id.ts'
import type {
  NewSession,
  Page,
  SessionAdoption,
  SessionChoice,
  SessionStop,
  SessionSummary,
  SessionView,
  TaskView,
} from '../domain/view/view.ts'
import type { Caller } from '../engine/auth/audit.ts'
import { assertMayAsk } from '../engine/auth/may-ask.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import { adoptSession } from '../engine/session/adopt.ts'
import { isIdOf } from '../engine/session/home.ts'
import type { AgentUser } from '../sandbox/process/agent-user.ts'
import { insertAudit } from '../store/audit.ts'
import { insertSession, listSessions, runningTask, setChoices } from '../store/sessions.ts'
import { listTasks } from '../store/task-list.ts'
import { agentNamed, type TaskCreatorParts, usableWorkspace } from './tasks/create-task.ts'
import { sessionSummary, taskSummary } from './tasks/views.ts'

/** What can be asked of sessions: conversations with agents, each a line of tasks. */
export interface SessionVerbs {
  /** Newest first. `cursor` is the `next` of an earlier page. */
  listSessions(filter: SessionFilter): Promise<Page<SessionSummary>>
  getSession(id: string): Promise<SessionView>
  /** A conversation that nothing was said in yet. */
  createSession(session: NewSession, caller: Caller): Promise<SessionView>
  /** Keeps what its next tasks are to be done with, for whoever speaks in it next. */
  chooseForSession(id: string, choice: SessionChoice, caller: Caller): Promise<SessionView>
  /** Makes a session of a conversation that was begun in the agent program itself, whose files stay as they are. */
  adoptSession(adoption: SessionAdoption, caller?: Caller): Promise<SessionView>
  /** Cancels the task that runs on the session now; those that wait stay. Nothing runs: nothing is done. */
  stopSession(id: string, options: Caller & { now: boolean }): Promise<SessionStop>
}

export interface SessionFilter {
  readonly agent?: string | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

export interface SessionVerbParts
  extends Pick<
    TaskCreatorParts,
    'db' | 'clock' | 'audit' | 'home' | 'adapterNamed' | 'agents' | 'defaultAgent' | 'sharedWorkspaces'
  > {
  /** The home of Pawl's own user, where programs keep the conversations that are begun in them. */
  readonly userHome: string
  /** Whom the files of agents belong to, if not to us. */
  readonly agentUser: () => Promise<AgentUser | undefined>
}

const shownTasks = 50

export function sessionVerbs(
  parts: SessionVerbParts,
  cancel: (task: string, options: Caller & { now: boolean }) => Promise<TaskView>,
): SessionVerbs {
  const { db } = parts

  const existing = async (id: string) => {
    const [found] = await translateDbErrors(() => listSessions(db, { id, limit: 1 }))
    if (!found) throw notFound(`There is no session ${id}; "pawl sessions ls" lists those there are.`)
    return found
  }
  const getSession = async (id: string): Promise<SessionView> => {
    const [session, tasks] = await Promise.all([
      existing(id),
      translateDbErrors(() => listTasks(db, { session: id, limit: shownTasks })),
    ])
    return { ...sessionSummary(session), choices: session.choices, tasks: tasks.map(taskSummary) }
  }

  return {
    getSession,

    async listSessions({ agent, limit, cursor }) {
      if (cursor !== undefined && !SessionId.safeParse(cursor).success)
        throw invalid('This cursor is not one that a list has given; leave it out to begin at the newest.')
      const rows = await translateDbErrors(() => listSessions(db, { agent, before: cursor, limit: limit + 1 }))
      const items = rows.slice(0, limit)
      return { items: items.map(sessionSummary), next: rows.length > limit ? (items.at(-1)?.id ?? null) : null }
    },

    async createSession({ agent, agentConfig, workspace, allowHome }, caller) {
      const { standing } = caller
      assertMayAsk(standing, { agentConfig, allowHome })
      const path = await usableWorkspace(workspace, { standing, allowHome }, parts.sharedWorkspaces)
      const by = agentConfig ?? agentNamed(parts.agents, agent ?? (await parts.defaultAgent()))
      const { name: adapter } = parts.adapterNamed(by.adapter, by.options)
      const id = newId('session', parts.clock.now())
      const at = new Date(parts.clock.now())
      await translateDbErrors(() =>
        db.transaction().execute(async (tx) => {
          await insertSession(tx, { id, agent: by.name, adapter, workspace: path, at })
          await insertAudit(tx, parts.audit.entry(caller, 'session.create', id, { agent: by.name, workspace: path }))
        }),
      )
      return getSession(id)
    },

    async chooseForSession(id, choice) {
      const chosenAt = new Date(parts.clock.now()).toISOString()
      await existing(id)
      await translateDbErrors(() => setChoices(db, id, { ...choice, chosenAt }))
      return getSession(id)
    },

    async adoptSession({ vendorId, agent, agentConfig, workspace, allowHome }, caller = { by: 'api' }) {
      const { standing } = caller
      assertMayAsk(standing, { agentConfig, allowHome })
      const path = await usableWorkspace(workspace, { standing, allowHome }, parts.sharedWorkspaces)
      const named = agentConfig ?? (agent === undefined ? undefined : agentNamed(parts.agents, agent))
      const user = await parts.agentUser()
      const adopt = (by: ResolvedAgent) =>
        translateDbErrors(() =>
          adoptSession({
            db,
            adapter: parts.adapterNamed(by.adapter, by.options),
            agent: by.name,
            vendorId,
            userHome: parts.userHome,
            sessionsFolder: join(parts.home, 'sessions'),
            user,
            workspace: path,
            nowMs: parts.clock.now(),
          }),
        )
      const { session } = await firstThatFinds(named ? [named] : await whoMayKnow(parts, vendorId), adopt)
      await parts.audit.record(caller, 'session.adopt', session, { vendorId, workspace: path })
      return getSession(session)
    },

    async stopSession(id, options) {
      await existing(id)
      // The id is taken first, so that a task which begins after we looked is not hit.
      const task = await translateDbErrors(() => runningTask(db, id))
      return { session: id, stopped: task === undefined ? null : await cancel(task, options) }
    },
  }
}

/** One agent for each kind of program that gives such ids to conversations and keeps them, the default agent before the others. What lies in the same places is one kind. */
async function whoMayKnow(parts: SessionVerbParts, vendorId: string): Promise<ResolvedAgent[]> {
  const first = await parts.defaultAgent()
  const byKind = new Map<string, ResolvedAgent>()
  for (const agent of parts.agents.toSorted((a, b) => Number(b.name === first) - Number(a.name === first))) {
    const { can, sessions } = parts.adapterNamed(agent.adapter, agent.options)
    if (!can.resume || !sessions || !isIdOf(sessions, vendorId)) continue
    const kind = `${agent.adapter} ${sessions.layouts(vendorId).join(' ')}`
    if (!byKind.has(kind)) byKind.set(kind, agent)
  }
  if (byKind.size === 0)
    throw invalid(
      `${JSON.stringify(vendorId)} is not an id that a program of the agents here gives to a conversation; take it from the program itself.`,
    )
  return [...byKind.values()]
}

/** What the first of them answers that finds what is asked for; else where all of them have looked. */
async function firstThatFinds<T>(agents: readonly ResolvedAgent[], ask: (agent: ResolvedAgent) => Promise<T>): Promise<T> {
  const sentences: string[] = []
  for (const agent of agents)
    try {
      return await ask(agent)
    } catch (error) {
      if (!(error instanceof PawlError && error.code === 'not_found')) throw error
      sentences.push(error.message)
    }
  throw notFound(sentences.join(' '))
}
