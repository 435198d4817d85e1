import type {
  NewSession,
  Page,
  SessionAdoption,
  SessionChoice,
  SessionStop,
  SessionSummary,
  SessionView,
} from '../../domain/view/view.ts'
import { api, type Wire } from '../transport/wire.ts'

/** Conversations with agents. */
export interface SessionCalls {
  listSessions(filter?: ListSessions): Promise<Page<SessionSummary>>
  getSession(id: string): Promise<SessionView>
  /** A conversation that nothing was said in yet. */
  createSession(session: NewSession): Promise<SessionView>
  /** Makes a session of a conversation that was begun in the agent program itself. */
  adoptSession(adoption: SessionAdoption): Promise<SessionView>
  /** Keeps what its next tasks are to be done with, for whoever speaks in it next. */
  chooseForSession(id: string, choice: SessionChoice): Promise<SessionView>
  /** Cancels the task that runs on the session now, if one does. */
  stopSession(id: string, options?: { now?: boolean | undefined }): Promise<SessionStop>
}

export interface ListSessions {
  readonly agent?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export const sessionCalls = ({ get, post, call }: Wire): SessionCalls => ({
  listSessions: (filter = {}) => get(`${api}/sessions`, { ...filter }),
  getSession: (id) => get(sessionPath(id)),
  createSession: (session) => post(`${api}/sessions`, session, false),
  adoptSession: (adoption) => post(`${api}/sessions/adopt`, adoption, false),
  chooseForSession: async (id, choice) => (await call<SessionView>('PUT', `${sessionPath(id)}/choices`, { body: choice })).value,
  stopSession: (id, { now = false } = {}) => post(`${sessionPath(id)}/stop`, { now }, false),
})

const sessionPath = (id: string) => `${api}/sessions/${encodeURIComponent(id)}`
