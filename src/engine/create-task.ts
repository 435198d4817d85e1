import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { isAbsolute, join, normalize, sep } from 'node:path'
import type { Adapter } from '../agent.ts'
import type { Clock } from '../clock.ts'
import type { ResolvedAgent } from '../domain/agent-config.ts'
import { conflict, invalid, PawlError, unavailable } from '../domain/error.ts'
import { newId } from '../domain/id.ts'
import { didYouMean } from '../domain/nearest.ts'
import { rankOf } from '../domain/task.ts'
import type { NewTask } from '../domain/view.ts'
import { fp } from '../failpoint.ts'
import type { Db } from '../store/database.ts'
import { findSession } from '../store/runs.ts'
import type { SessionRow, TaskRow } from '../store/tables.ts'
import * as tasks from '../store/tasks.ts'
import { guarded } from './guarded.ts'
import type { Probe } from './program/probes.ts'
import { assertSchema } from './structured-output.ts'
import { assertUsable } from './workspace/workspace.ts'

export interface TaskCreatorParts {
  readonly db: Db
  readonly clock: Clock
  readonly home: string
  readonly adapterNamed: (name: string) => Adapter
  readonly agents: readonly ResolvedAgent[]
  readonly defaultAgent: () => Promise<string>
  readonly probe: Probe
  /** Tasks made here are kept for this process alone while it lives: one-shots run their own task and nobody else's. */
  readonly boundTo: string | null
  readonly maxQueued: number
  /** Throws why no work can be taken now: a full disk, for one. */
  readonly assertRoom: () => Promise<void>
}

/** A new row, or the one that an earlier request with the same key made. */
export type Made =
  | { readonly isNew: true; readonly row: TaskRow }
  | { readonly isNew: false; readonly row: { readonly id: string } }

/** Checks a task whole before anything of it is written, then writes it in one statement. */
export function taskCreator(parts: TaskCreatorParts): (input: NewTask, key: string | undefined) => Promise<Made> {
  const { db, clock } = parts
  const assertTaking = onceASecond(clock, async () => {
    await parts.assertRoom()
    const queued = await guarded(() => tasks.countQueued(db, parts.maxQueued))
    if (queued >= parts.maxQueued)
      throw unavailable(`${queued} tasks are queued, as many as limits.maxQueued allows; wait until some are done, or raise it.`)
  })
  const assertInstalled = async (agent: ResolvedAgent, folder: string | undefined) => {
    const { installed, detail, fix } = await parts.probe(agent, folder)
    if (!installed) throw new PawlError('unsupported', `Agent "${agent.name}" cannot run here: ${detail}${fix ? ` ${fix}` : ''}`)
  }

  return async (input, key) => {
    const bodyHash = key === undefined ? '' : createHash('sha256').update(JSON.stringify(input)).digest('hex')
    const earlier = async (): Promise<Made | undefined> => {
      const seen = key === undefined ? undefined : await guarded(() => tasks.findByIdempotencyKey(db, key))
      if (!seen) return undefined
      if (seen.body_hash !== bodyHash)
        throw conflict(`This Idempotency-Key was used for another request (task ${seen.task_id}); choose a new key.`)
      return { isNew: false, row: { id: seen.task_id } }
    }
    try {
      return (await write(input, key, bodyHash)) ?? (await earlier()) ?? lost(key)
    } catch (error) {
      // What is refused today may have been accepted when it was sent first: a workspace can be gone by now.
      const found = error instanceof PawlError ? await earlier() : undefined
      if (found) return found
      throw error
    }
  }

  /** Undefined if the key is taken: then nothing was written. */
  async function write(input: NewTask, key: string | undefined, bodyHash: string): Promise<Made | undefined> {
    const session = await givenSession(db, input.session)
    const agent = await resolveAgent(parts, input, session)
    const id = newId('task', clock.now())
    const workspace = await chooseWorkspace(parts.home, id, input, session)
    if (input.outputSchema) assertSchema(input.outputSchema)
    await assertInstalled(agent, workspace.isOwn ? undefined : workspace.path)
    await assertTaking()
    const priority = input.priority ?? 0
    await fp('task.create.before')
    const row = await guarded(() =>
      tasks
        .insertTask(db, {
          id,
          session: { id: session?.id ?? newId('session', clock.now()), isNew: session === undefined },
          agent,
          prompt: input.prompt,
          workspace: workspace.path,
          workspaceOwn: workspace.isOwn,
          priority,
          rank: rankOf(clock.now(), priority),
          tags: input.tags ?? [],
          extraArgs: input.extraArgs ?? [],
          outputSchema: input.outputSchema,
          continuation: input.resetSession ? { kind: 'retry', fresh: true } : undefined,
          attended: input.attended ?? false,
          boundTo: parts.boundTo,
          at: new Date(clock.now()),
          idempotency: key === undefined ? undefined : { key, bodyHash },
        })
        .catch((error: unknown) => {
          // Two requests with one key at the same moment: the primary key lets one through.
          if (key !== undefined && (error as { code?: unknown }).code === '23505') return undefined
          throw error
        }),
    )
    await fp('task.create.after')
    return row && { isNew: true, row }
  }
}

function lost(key: string | undefined): never {
  throw new Error(`a task was not stored, and no other has its key ${key}`)
}

async function resolveAgent(parts: TaskCreatorParts, task: NewTask, session: SessionRow | undefined): Promise<ResolvedAgent> {
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
  return {
    ...agent,
    ...(task.model === undefined ? {} : { model: task.model }),
    ...(task.profile === undefined ? {} : { profile: task.profile }),
    ...(task.timeoutMs === undefined ? {} : { timeoutMs: task.timeoutMs === 0 ? null : task.timeoutMs }),
  }
}

export function agentNamed(agents: readonly ResolvedAgent[], name: string): ResolvedAgent {
  const agent = agents.find((known) => known.name === name)
  const names = agents.map((known) => known.name)
  if (!agent) throw invalid(`There is no agent "${name}"${didYouMean(name, names)} Agents are: ${names.join(', ')}.`)
  return agent
}

async function givenSession(db: Db, id: string | undefined): Promise<SessionRow | undefined> {
  if (id === undefined) return undefined
  const session = await guarded(() => findSession(db, id))
  if (!session) throw invalid(`There is no session ${id}; "pawl session ls" lists those there are.`)
  return session
}

/** Where the task says, else where its session works, else in a directory of its own, which the first run makes. */
async function chooseWorkspace(home: string, task: string, input: NewTask, session: SessionRow | undefined) {
  const own = join(home, 'workspaces')
  const wanted = input.workspace ?? session?.workspace ?? join(own, task)
  const isOwn = input.workspace === undefined && wanted.startsWith(`${own}${sep}`)
  return { path: isOwn ? wanted : await usableWorkspace(wanted), isOwn }
}

export async function usableWorkspace(path: string): Promise<string> {
  if (!isAbsolute(path) || path.includes('\0')) throw invalid(`The workspace must be an absolute path, not "${path}".`)
  await assertUsable(normalize(path))
  // A directory and a link to it are one workspace, in which one run works at a time.
  return realpath(path)
}

/** A check that costs as much as a query and whose answer holds for a moment. Only a good answer is kept. */
function onceASecond(clock: Clock, check: () => Promise<void>): () => Promise<void> {
  let goodAt = Number.NEGATIVE_INFINITY
  return async () => {
    if (clock.monotonic() - goodAt < 1_000) return
    await check()
    goodAt = clock.monotonic()
  }
}
