import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { isAbsolute, join, normalize, sep } from 'node:path'
import type { Adapter } from '../agent.ts'
import type { Clock } from '../clock.ts'
import type { ResolvedAgent } from '../domain/agent-config.ts'
import { conflict, denied, invalid, limited, PawlError, unavailable } from '../domain/error.ts'
import { newId, SessionId } from '../domain/id.ts'
import { didYouMean } from '../domain/nearest.ts'
import { rightsNamed, rightsOf } from '../domain/profile/resolve.ts'
import { localUser, type Standing } from '../domain/role.ts'
import { rankOf, type WorkspaceHow } from '../domain/task.ts'
import type { NewTask } from '../domain/view.ts'
import { fp } from '../failpoint.ts'
import type { Db, Tx } from '../store/database.ts'
import { takeQuota } from '../store/quotas.ts'
import { findSession } from '../store/runs.ts'
import type { SessionRow, TaskRow } from '../store/tables.ts'
import * as tasks from '../store/tasks.ts'
import { findUser } from '../store/users.ts'
import type { Audit, Caller } from './entrance/audit.ts'
import { dayOf } from './entrance/entrance.ts'
import { assertMayAsk, assertMayWorkIn, assertNotWider } from './entrance/may-ask.ts'
import { guarded } from './guarded.ts'
import type { Probe } from './program/probes.ts'
import type { ProfileVerbParts } from './rights/verbs.ts'
import { assertSchema } from './structured-output.ts'
import { assertUsable } from './workspace/workspace.ts'

export interface TaskCreatorParts extends ProfileVerbParts {
  readonly db: Db
  readonly clock: Clock
  readonly audit: Audit
  readonly home: string
  readonly adapterNamed: (name: string) => Adapter
  readonly agents: readonly ResolvedAgent[]
  readonly defaultAgent: () => Promise<string>
  readonly probe: Probe
  /** Tasks made here are kept for this process alone while it lives: one-shots run their own task and nobody else's. */
  readonly boundTo: string | null
  readonly maxQueued: number
  /** The folders in and below which those who are no admins may have agents work. */
  readonly sharedWorkspaces: readonly string[]
  /** Throws why no work can be taken now: a full disk, for one. */
  readonly assertRoom: () => Promise<void>
}

/** A new row, or the one that an earlier request with the same key made. */
export type Made =
  | { readonly isNew: true; readonly row: TaskRow }
  | { readonly isNew: false; readonly row: { readonly id: string } }

/** Checks a task whole before anything of it is written, then writes it in one statement. */
export function taskCreator(parts: TaskCreatorParts): (input: NewTask, key: string | undefined, caller: Caller) => Promise<Made> {
  const { db, clock } = parts
  const assertTaking = onceASecond(clock, async () => {
    await parts.assertRoom()
    const queued = await guarded(() => tasks.countQueued(db, parts.maxQueued))
    if (queued >= parts.maxQueued)
      throw unavailable(`${queued} tasks are queued, as many as limits.maxQueued allows; wait until some are done, or raise it.`)
  })
  /** When the programs of agents were last found, by the agents' own options: looking at a file waits for another thread. */
  const foundAt = new WeakMap<object, number>()
  const assertInstalled = async (agent: ResolvedAgent, folder: string | undefined) => {
    const isFresh = folder === undefined && clock.monotonic() - (foundAt.get(agent.options) ?? Number.NEGATIVE_INFINITY) < holdsMs
    if (isFresh) return
    const { installed, detail, fix } = await parts.probe(agent, folder)
    if (installed && folder === undefined) foundAt.set(agent.options, clock.monotonic())
    if (!installed) throw new PawlError('unsupported', `Agent "${agent.name}" cannot run here: ${detail}${fix ? ` ${fix}` : ''}`)
  }

  return async (input, given, caller) => {
    // Keys are each user's own: nobody is handed a task of another by guessing one.
    const key = given === undefined || (caller.user ?? localUser) === localUser ? given : `${caller.user} ${given}`
    const bodyHash = key === undefined ? '' : createHash('sha256').update(JSON.stringify(input)).digest('hex')
    const earlier = async (): Promise<Made | undefined> => {
      const seen = key === undefined ? undefined : await guarded(() => tasks.findByIdempotencyKey(db, key))
      if (!seen) return undefined
      if (seen.body_hash !== bodyHash)
        throw conflict(`This Idempotency-Key was used for another request (task ${seen.task_id}); choose a new key.`)
      return { isNew: false, row: { id: seen.task_id } }
    }
    try {
      return (await write(input, key, bodyHash, caller)) ?? (await earlier()) ?? lost(key)
    } catch (error) {
      // What is refused today may have been accepted when it was sent first: a workspace can be gone by now.
      const found = error instanceof PawlError ? await earlier() : undefined
      if (found) return found
      throw error
    }
  }

  /** Undefined if the key is taken: then nothing was written. */
  async function write(input: NewTask, key: string | undefined, bodyHash: string, caller: Caller): Promise<Made | undefined> {
    assertMayAsk(caller.standing, input)
    const session = await givenSession(db, input.session)
    if (session && caller.standing === 'hook') await assertOwnSession(session.id, caller.user ?? localUser)
    const agent = await resolveAgent(parts, input, session, caller.standing)
    const id = newId('task', clock.now())
    const workspace = await chooseWorkspace(parts, id, input, session, caller.standing)
    if (input.outputSchema) assertSchema(input.outputSchema)
    await assertInstalled(agent, workspace.isOwn ? undefined : workspace.path)
    await assertTaking()
    const priority = input.priority ?? 0
    await fp('task.create.before')
    const user = caller.user ?? localUser
    const detail = { agent: agent.name, profile: agent.profile, workspace: workspace.path }
    const row = await guarded(() =>
      withinQuota(user, (to) =>
        tasks.insertTask(to, {
          id,
          session: { id: session?.id ?? newId('session', clock.now()), isNew: session === undefined },
          agent,
          prompt: input.prompt,
          workspace: workspace.path,
          workspaceOwn: workspace.isOwn,
          workspaceHow: howToWork(input, workspace.isOwn),
          priority,
          rank: rankOf(clock.now(), priority),
          tags: input.tags ?? [],
          extraArgs: input.extraArgs ?? [],
          outputSchema: input.outputSchema,
          continuation: input.resetSession ? { kind: 'retry', fresh: true } : undefined,
          attended: input.attended ?? false,
          boundTo: parts.boundTo,
          user,
          at: new Date(clock.now()),
          audit: parts.audit.entry(caller, 'task.create', id, detail),
          idempotency: key === undefined ? undefined : { key, bodyHash },
        }),
      ).catch((error: unknown) => {
        // Two requests with one key at the same moment: the primary key lets one through.
        if (key !== undefined && (error as { code?: unknown }).code === '23505') return undefined
        throw error
      }),
    )
    await fp('task.create.after')
    return row && { isNew: true, row }
  }

  /** What stands in somebody else's system goes on with what its own user began, not with the conversations of others. */
  async function assertOwnSession(session: string, user: string): Promise<void> {
    if (!(await guarded(() => tasks.hasTaskOf(db, session, user))))
      throw denied(`A token of kind hook goes on only with sessions of its own user, and ${session} is none; leave it out.`)
  }

  /** One more task of a user who has only so many a day is counted with the task itself. The owner of the home is not counted. */
  async function withinQuota(user: string, insert: (to: Db | Tx) => Promise<TaskRow | undefined>): Promise<TaskRow | undefined> {
    if (user === localUser) return insert(db)
    const found = await findUser(db, user)
    if (!found) throw denied(`The user "${user}" was removed meanwhile.`)
    const { daily_tasks: most } = found
    if (most === null) return insert(db)
    return db
      .transaction()
      .execute(async (tx) => {
        if (!(await takeQuota(tx, user, dayOf(clock.now()), most)))
          throw limited(
            `The user "${user}" has asked for ${most} tasks today, as many as their daily limit allows; it begins anew at midnight UTC.`,
            secondsOfDayLeft(clock.now()),
          )
        const row = await insert(tx)
        if (!row) throw new NotCounted()
        return row
      })
      .catch((error: unknown) => {
        if (error instanceof NotCounted) return undefined
        throw error
      })
  }
}

/** Rolls back what was counted for a task that an earlier request had made already. */
class NotCounted extends Error {}

const dayMs = 86_400_000
const secondsOfDayLeft = (nowMs: number) => Math.ceil((dayMs - (nowMs % dayMs)) / 1_000)

function lost(key: string | undefined): never {
  throw new Error(`a task was not stored, and no other has its key ${key}`)
}

async function resolveAgent(
  parts: TaskCreatorParts,
  task: NewTask,
  session: SessionRow | undefined,
  standing: Standing | undefined,
): Promise<ResolvedAgent> {
  const agent = task.agentConfig ?? agentNamed(parts.agents, task.agent ?? session?.agent ?? (await parts.defaultAgent()))
  if (session && session.adapter !== agent.adapter)
    throw invalid(`Session ${session.id} belongs to agent "${session.agent}"; use that agent.`)
  const adapter = parts.adapterNamed(agent.adapter)
  const options = adapter.options.safeParse(agent.options)
  if (!options.success)
    throw invalid(
      `Agent "${agent.name}": ${options.error.issues.map((issue) => `${issue.path.join('.') || 'options'}: ${issue.message}`).join('; ')}`,
    )
  if (task.model !== undefined && !adapter.can.model)
    throw new PawlError('unsupported', `Agent "${agent.name}" takes no model; leave --model out.`)
  const chosen = task.profile === undefined ? undefined : chosenProfile(parts, task.profile)
  if (chosen) assertNotWider(standing, rightsOf(chosen), rightsOf(agent))
  return {
    ...agent,
    ...(task.model === undefined ? {} : { model: task.model }),
    ...chosen,
    ...(task.timeoutMs === undefined ? {} : { timeoutMs: task.timeoutMs === 0 ? null : task.timeoutMs }),
  }
}

/** The profile that was asked for by name, instead of the agent's own. */
const chosenProfile = ({ profiles, ground }: TaskCreatorParts, name: string): Pick<ResolvedAgent, 'profile' | 'rights'> => ({
  profile: name,
  rights: rightsNamed(name, profiles, ground),
})

export function agentNamed(agents: readonly ResolvedAgent[], name: string): ResolvedAgent {
  const agent = agents.find((known) => known.name === name)
  const names = agents.map((known) => known.name)
  if (!agent) throw invalid(`There is no agent "${name}"${didYouMean(name, names)} Agents are: ${names.join(', ')}.`)
  return agent
}

async function givenSession(db: Db, id: string | undefined): Promise<SessionRow | undefined> {
  if (id === undefined) return undefined
  // What is no id names none; the database would refuse some of it in its own words.
  const session = SessionId.safeParse(id).success ? await guarded(() => findSession(db, id)) : undefined
  if (!session) throw invalid(`There is no session ${id}; "pawl session ls" lists those there are.`)
  return session
}

/** Where the task says, else where its session works, else in a directory of its own, which the first run makes. */
async function chooseWorkspace(
  parts: Pick<TaskCreatorParts, 'home' | 'sharedWorkspaces'>,
  task: string,
  input: NewTask,
  session: SessionRow | undefined,
  standing: Standing | undefined,
) {
  const own = join(parts.home, 'workspaces')
  const wanted = input.workspace ?? session?.workspace ?? join(own, task)
  const isOwn = input.workspace === undefined && wanted.startsWith(`${own}${sep}`)
  return { path: isOwn ? wanted : await usableWorkspace(wanted, standing, parts.sharedWorkspaces), isOwn }
}

export async function usableWorkspace(path: string, standing: Standing | undefined, shared: readonly string[]): Promise<string> {
  if (!isAbsolute(path) || path.includes('\0')) throw invalid(`The workspace must be an absolute path, not "${path}".`)
  await assertMayWorkIn(standing, path, shared)
  await assertUsable(normalize(path))
  // A directory and a link to it are one workspace, in which one run works at a time.
  return realpath(path)
}

/** A folder that is the task's own needs neither a copy nor a clone. */
function howToWork({ workspaceMode: mode, bringBack }: NewTask, isOwn: boolean): WorkspaceHow | undefined {
  if (bringBack !== undefined && mode !== 'clone')
    throw invalid('Only the work of a clone can be brought back as a branch; choose the workspace mode "clone" as well.')
  if (mode === undefined) return undefined
  if (isOwn && mode !== 'direct') throw invalid(`Name the workspace that the agent is to work on in a ${mode} of.`)
  return { mode, ...(bringBack === undefined ? {} : { bringBack }) }
}

/** For how long a good answer to a check is believed; what changes meanwhile a run finds out for itself. */
const holdsMs = 1_000

/** A check that costs as much as a query and whose answer holds for a moment. Only a good answer is kept. */
function onceASecond(clock: Clock, check: () => Promise<void>): () => Promise<void> {
  let goodAt = Number.NEGATIVE_INFINITY
  return async () => {
    if (clock.monotonic() - goodAt < holdsMs) return
    await check()
    goodAt = clock.monotonic()
  }
}
