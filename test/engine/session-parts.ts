import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { type Adapter, canOnly, type SessionFiles } from '../../src/agents/port.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { NewEvent } from '../../src/domain/event/event.ts'
import { newId } from '../../src/domain/id.ts'
import { type GateOptions, passGate } from '../../src/engine/session/gate.ts'
import { findSession } from '../../src/store/runs.ts'
import { insertTask } from '../../src/store/tasks.ts'
import { commandAgent } from './home.ts'
import { makeParts } from './store.ts'

/** Whom agents run as when we are root; nobody else uses the number. */
export const agentUser = process.getuid?.() === 0 ? { uid: 61_295, gid: 61_295 } : undefined

/** A program that keeps conversations as the real ones do: one growing file, in one of two places, with a folder beside it. */
export const conversations: SessionFiles = {
  id: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  layouts: (id) => [`.talk/projects/*/${id}.jsonl`, `.talk/flat/talk-*${id}.jsonl`],
  beside: (path, id) => [join(dirname(path), id)],
  rebuild: (transcript, { vendorId, workspace }) => ({
    path: `.talk/projects/rebuilt/${vendorId}.jsonl`,
    content: `${[{ workspace }, ...transcript].map((line) => JSON.stringify(line)).join('\n')}\n`,
  }),
}

export function talkAdapter(changes: Partial<Adapter> = {}): Adapter {
  return {
    name: 'talk',
    title: 'Talk',
    options: z.object({}),
    can: canOnly('resume'),
    sessions: conversations,
    probe: async () => ({ installed: true, healthy: true, detail: '' }),
    command: () => ({ file: 'true', args: [], env: {} }),
    open: () => {
      throw new Error('nobody opens it here')
    },
    ...changes,
  }
}

/** One store for all sessions of a test file: none of them looks at another's rows. */
let shared: ReturnType<typeof makeParts> | undefined
let close: (() => Promise<void>) | undefined

/** Owed by every file that makes sessions, when it ends. */
export async function closeSessions(): Promise<void> {
  await close?.()
  shared = close = undefined
}

/** A store, a session with a home that belongs to the agent, and runs that hold their lease. */
export async function makeSession() {
  shared ??= makeParts((closer) => {
    close = closer
  })
  const parts = await shared
  const { db, journal, log } = parts
  const worker = await parts.addWorker()
  const session = newId('session', Date.now())
  const home = await mkdtemp(join(tmpdir(), 'pawl-session-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  if (agentUser) await chown(home, agentUser.uid, agentUser.gid)

  let isNew = true
  const addTask = async (prompt: string) => {
    const id = newId('task', Date.now())
    const rest = { priority: 0, rank: 0, tags: [], extraArgs: [], attended: false, boundTo: null, at: new Date() }
    const agent = commandAgent(['true'], { adapter: 'talk' })
    await insertTask(db, { id, session: { id: session, isNew }, agent, prompt, workspace: '/w', workspaceOwn: false, ...rest })
    isNew = false
    return { id, session }
  }
  const fences = new Map<string, number>()
  /** The task's next run. What it is given to say comes after its start. */
  const begin = async (task: { id: string; session: string }, ...events: NewEvent[]) => {
    const fence = (fences.get(task.id) ?? 0) + 1
    fences.set(task.id, fence)
    const run = await parts.admit(task, fence, worker)
    await parts.lease(run, worker)
    if (events.length > 0) await say(run, started, ...events)
    return run
  }
  const say = (run: { id: string; taskId: string; fence: number }, ...events: NewEvent[]) =>
    journal.transact('test', async (_tx, record) => {
      for (const event of events) record({ task: run.taskId, run: run.id, fence: run.fence, event })
    })
  const end = (run: Awaited<ReturnType<typeof begin>>, outcome: 'succeeded' | 'interrupted' = 'succeeded') =>
    parts.settler.settleRun(run, { outcome, text: '' })

  const row = async () => (await findSession(db, session))!
  const setVendorId = (id: string | null) => sql`update pawl.sessions set vendor_id = ${id} where id = ${session}`.execute(db)
  const pass = async (run: { id: string; taskId: string; fence: number }, changes: Partial<GateOptions> = {}) =>
    passGate({
      db,
      journal,
      clock: systemClock,
      log,
      adapter: talkAdapter(),
      session: await row(),
      task: { id: run.taskId },
      run,
      home,
      user: agentUser,
      workspace: '/w',
      care: 'keep',
      fresh: false,
      ...changes,
    })
  /** As the agent writes it, who owns its home. */
  const write = async (path: string, content: string | Buffer) => {
    await makeFolder(dirname(path))
    await writeFile(join(home, path), content)
    if (agentUser) await chown(join(home, path), agentUser.uid, agentUser.gid)
  }
  const makeFolder = async (path: string) => {
    if (path === '.') return
    await makeFolder(dirname(path))
    await mkdir(join(home, path), { recursive: true })
    if (agentUser) await chown(join(home, path), agentUser.uid, agentUser.gid)
  }
  const sessionEvents = async (task: { id: string }) =>
    (await journal.read(task.id, { after: 0, limit: 1_000 })).filter((event) => event.type.startsWith('session.'))
  return { ...parts, session, home, worker, addTask, begin, say, end, row, setVendorId, pass, write, sessionEvents }
}

export const started: NewEvent = {
  type: 'run.started',
  data: { attempt: 1, fence: 1, worker: 'w', walls: 'none', enforced: false, resumed: false },
}
export const said = (text: string): NewEvent => ({ type: 'agent.message', data: { text } })
