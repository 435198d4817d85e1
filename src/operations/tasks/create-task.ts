import { createHash } from 'node:crypto'
import type { AgentHealth } from '../../agents/port.ts'
import type { Clock } from '../../base/clock.ts'
import { fp } from '../../base/failpoint.ts'
import { accountOf } from '../../domain/agent/account.ts'
import type { ResolvedAgent } from '../../domain/agent/agent-config.ts'
import { localUser } from '../../domain/auth/role.ts'
import type { TraceContext } from '../../domain/base/trace-context.ts'
import { conflict, denied, invalid, PawlError } from '../../domain/error.ts'
import type { Attachment } from '../../domain/files/view.ts'
import { newId, SessionId } from '../../domain/id.ts'
import type { NewListener } from '../../domain/notification/listener.ts'
import type { ReplayOf } from '../../domain/task/spec.ts'
import { rankOf } from '../../domain/task/task.ts'
import type { NewTask, NewTasks } from '../../domain/view/view.ts'
import type { Caller } from '../../engine/auth/audit.ts'
import { assertMayAsk } from '../../engine/auth/may-ask.ts'
import { assertMayCheck, assertMayDecide } from '../../engine/auth/may-decide.ts'
import { translateDbErrors } from '../../engine/base/translate-db-errors.ts'
import { firstListeners as listenersOf } from '../../engine/delivery/listeners/make.ts'
import { smallBudget } from '../../engine/money/small-budget.ts'
import { assertSchema } from '../../engine/run/structured-output.ts'
import { assertQueueHasRoom, withinQuota } from '../../engine/tasks/quota.ts'
import { assertRelatable, relate } from '../../engine/tasks/relate.ts'
import { assertRole, renderTask } from '../../engine/tasks/templates.ts'
import type { Db, Tx } from '../../store/database.ts'
import { findSession } from '../../store/runs.ts'
import type { SessionRow, TaskRow } from '../../store/tables.ts'
import * as tasks from '../../store/tasks.ts'
import { agentsOfTask } from './create/agent.ts'
import { attachmentsOf } from './create/attachments.ts'
import { arrange, ofTask } from './create/batch.ts'
import { assertAble, hasWishes } from './create/capabilities.ts'
import { chooseWorkspace, contextFolders, howToWork } from './create/choose-workspace.ts'
import { mountsOfTask } from './create/mounts.ts'
import type { TaskCreatorParts } from './create/parts.ts'
import { assertKnown } from './create/recipients.ts'
import { specOf } from './create/spec.ts'
import { ownKey } from './transcript.ts'

export { agentNamed } from './create/agent.ts'
export { usableWorkspace } from './create/choose-workspace.ts'
export type { TaskCreatorParts } from './create/parts.ts'

/** A new row, or the one that an earlier request with the same key made. */
export type Made =
  | { readonly isNew: true; readonly row: TaskRow }
  | { readonly isNew: false; readonly row: { readonly id: string } }

/** What only the engine itself says of a task that it makes. */
export interface Origin {
  /** The schedule that asked for it. */
  readonly schedule?: string | undefined
  /** The recorded run that it is to repeat. */
  readonly replay?: ReplayOf | undefined
  /** Files that another task has. */
  readonly attachments?: Attachment[] | undefined
  /** The span of whoever asks. Not part of what is asked: the same request may come again in another span. */
  readonly trace?: TraceContext | undefined
  /** Addresses that are told of it from its first event on. */
  readonly listeners?: readonly NewListener[] | undefined
}

export interface TaskCreator {
  (input: NewTask, key: string | undefined, caller: Caller, origin?: Origin): Promise<Made>
  /** All of them or none, in the order of the request. */
  together(input: NewTasks, key: string | undefined, caller: Caller, origin?: Pick<Origin, 'trace'>): Promise<Made[]>
  /** Refuses what it would refuse to make; makes nothing. */
  check(input: NewTask, caller: Caller): Promise<void>
}

/** A task with everything checked and decided, ready to be written. */
type Checked = Omit<tasks.TaskToInsert, 'idempotency' | 'dependsOn' | 'waitsFor' | 'heldBack' | 'parent'> & {
  readonly related: Pick<NewTask, 'dependsOn' | 'parent' | 'acceptPartial'>
}

/** Checks tasks whole before anything of them is written, then writes each in one statement. */
export function taskCreator(parts: TaskCreatorParts): TaskCreator {
  const { db, clock } = parts
  const adapterOf = ({ adapter, options }: ResolvedAgent) => parts.adapterNamed(adapter, options)
  const assertTaking = onceASecond(clock, async () => {
    await parts.assertRoom()
    await translateDbErrors(() => assertQueueHasRoom(db, parts.maxQueued))
  })
  /** When the programs of agents were last found, by the agents' own options: looking at a file waits for another thread. */
  const found = new WeakMap<object, { at: number; health: AgentHealth }>()
  const assertInstalled = async (agent: ResolvedAgent, folder: string | undefined): Promise<AgentHealth> => {
    const kept = folder === undefined ? found.get(agent.options) : undefined
    if (kept && clock.monotonic() - kept.at < holdsMs) return kept.health
    const health = await parts.probe(agent, folder)
    const { installed, detail, fix } = health
    if (installed && folder === undefined) found.set(agent.options, { at: clock.monotonic(), health })
    if (!installed) throw new PawlError('unsupported', `Agent "${agent.name}" cannot run here: ${detail}${fix ? ` ${fix}` : ''}`)
    return health
  }

  const create = async (input: NewTask, given: string | undefined, caller: Caller, origin: Origin = {}): Promise<Made> => {
    const id = newId('task', clock.now())
    const [made] = await keyed(
      caller,
      given,
      input,
      (key) => [key],
      async (keys) => write([await check(id, input, caller, origin)], keys),
    )
    return made!
  }
  const together: TaskCreator['together'] = async (input, given, caller, origin) => {
    const keysOf = (key: string) => input.tasks.map((_, index) => `${key}\t${index}`)
    return keyed(caller, given, input, keysOf, async (keys) => {
      const arranged = arrange(input, clock.now())
      const checked: Checked[] = []
      for (const { id, index, task } of arranged)
        checked.push(
          await check(id, task, caller, origin).catch((error: unknown) => {
            throw error instanceof PawlError ? ofTask(input.tasks, index, error) : error
          }),
        )
      const rows = await write(checked, keys && arranged.map(({ index }) => keys[index]!))
      return rows && arranged.map((_, place) => rows[arranged.findIndex(({ index }) => index === place)]!)
    })
  }
  return Object.assign(create, {
    together,
    async check(input: NewTask, caller: Caller) {
      const { related } = await check(newId('task', clock.now()), input, caller)
      await translateDbErrors(() => assertRelatable(db, related))
    },
  })

  /** Does what is asked for once, however often it comes with the same key. */
  async function keyed(
    caller: Caller,
    given: string | undefined,
    body: unknown,
    keysOf: (key: string) => string[],
    work: (keys: Keyed[] | undefined) => Promise<TaskRow[] | undefined>,
  ): Promise<Made[]> {
    const key = given === undefined ? undefined : ownKey(caller, given)
    const bodyHash = key === undefined ? '' : createHash('sha256').update(JSON.stringify(body)).digest('hex')
    const keys = key === undefined ? undefined : keysOf(key)
    const earlier = async (): Promise<Made[] | undefined> => {
      const seen = keys === undefined ? [] : await translateDbErrors(() => tasks.findByIdempotencyKeys(db, keys))
      if (seen.length === 0) return undefined
      const other = seen.find((one) => one.body_hash !== bodyHash)
      if (other) throw conflict(`This Idempotency-Key was used for another request (task ${other.task_id}); choose a new key.`)
      return seen.map((one) => ({ isNew: false, row: { id: one.task_id } }))
    }
    try {
      const rows = await work(keys?.map((one) => ({ key: one, bodyHash })))
      return rows?.map((row) => ({ isNew: true, row })) ?? (await earlier()) ?? lost(key)
    } catch (error) {
      // What is refused today may have been accepted when it was sent first: a workspace can be gone by now.
      const made = error instanceof PawlError ? await earlier() : undefined
      if (made) return made
      throw error
    }
  }

  async function check(id: string, input: NewTask, caller: Caller, origin: Origin = {}): Promise<Checked> {
    const { standing } = caller
    assertMayAsk(standing, input)
    assertOnce(input)
    assertMayDecide(caller, input.questions, parts.questions)
    if (input.questions || input.subtasks) await assertKnown(parts, input)
    const session = await givenSession(db, input.session)
    if (session && standing === 'hook') await assertOwnSession(session.id, caller.user ?? localUser)
    const workspace = await chooseWorkspace(parts, id, input, { session, standing })
    const foldersOf = (named: readonly string[] = []) =>
      contextFolders(parts, named, { workspace, standing, allowHome: input.allowHome })
    const writableDirs = await foldersOf(input.writableDirs)
    const contextDirs = [...new Set([...(await foldersOf(input.contextDirs)), ...writableDirs])]
    const mounts = await mountsOfTask(parts, input.mounts, { caller, workspace: workspace.path })
    const { agent, failover, profile } = await agentsOfTask(parts, input, {
      session,
      standing,
      contextDirs,
      writableDirs,
      mounts,
    })
    assertMayCheck(caller, input.checks, profile, parts.questions)
    if (input.outputSchema) await assertSchema(input.outputSchema)
    for (const one of [agent, ...failover]) {
      const health = await assertInstalled(one, workspace.isOwn ? undefined : workspace.path)
      if (hasWishes({ ...input, contextDirs }))
        assertAble(adapterOf(one), one, { ...input, contextDirs }, { workspace: workspace.path, health })
    }
    const role = input.role ?? agent.role
    if (role !== undefined) await assertRole(parts.home, role)
    const prompt = await promptOf(input, workspace.path)
    const attachments = input.attachments?.length ? await attachmentsOf(parts, input.attachments, caller) : origin.attachments
    const user = caller.user ?? localUser
    const listeners = origin.listeners?.length ? await listenersOf(parts, origin.listeners, { task: id, caller }) : undefined
    await assertTaking()
    const priority = input.priority ?? 0
    return {
      id,
      // What is answered from a recording costs nothing.
      warning: origin.replay ? undefined : await smallBudget({ ...parts, agent, adapter: adapterOf(agent), prompt }),
      session: { id: session?.id ?? newId('session', clock.now()), isNew: session === undefined },
      agent,
      account: accountOf(agent),
      name: input.name,
      spec: {
        ...specOf({ ...input, contextDirs, writableDirs }, agent, failover),
        ...(origin.replay ? { replay: origin.replay } : {}),
        ...(attachments ? { attachments } : {}),
        ...(origin.trace ? { trace: origin.trace } : {}),
      },
      schedule: origin.schedule,
      related: { dependsOn: input.dependsOn, parent: input.parent, acceptPartial: input.acceptPartial },
      prompt,
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
      listeners,
      at: new Date(clock.now()),
      audit: parts.audit.entry(caller, 'task.create', id, {
        agent: agent.name,
        profile: agent.profile,
        workspace: workspace.path,
      }),
    }
  }

  async function promptOf({ prompt, template, context }: NewTask, workspace: string): Promise<string> {
    if (template === undefined && context !== undefined)
      throw invalid('A context is put into a template; name one (--template), or say it in the prompt.')
    return template === undefined ? prompt : renderTask(parts.home, template, { task: prompt, workspace, context })
  }

  /** Undefined if a key is taken: then nothing was written. */
  async function write(checked: readonly Checked[], keys: readonly Keyed[] | undefined): Promise<TaskRow[] | undefined> {
    await fp('task.create.before')
    const isRelated = checked.some(({ related }) => related.parent !== undefined || related.dependsOn?.length)
    const quota = { user: checked[0]!.user ?? localUser, tasks: checked.length, together: checked.length > 1 || isRelated }
    const rows = await translateDbErrors(() =>
      withinQuota(parts, quota, (to) => insertAll(to, checked, keys)).catch((error: unknown) => {
        // Two requests with one key at the same moment: the primary key lets one through.
        if (keys !== undefined && (error as { code?: unknown }).code === '23505') return undefined
        if (checked.some(({ spec }) => spec?.attachments) && (error as { code?: unknown }).code === '23503')
          throw invalid('A file that was to be attached was forgotten in this very moment; hand it in again.')
        throw error
      }),
    )
    await fp('task.create.after')
    return rows
  }

  /** What stands in somebody else's system goes on with what its own user began, not with the conversations of others. */
  async function assertOwnSession(session: string, user: string): Promise<void> {
    if (!(await translateDbErrors(() => tasks.hasTaskOf(db, session, user))))
      throw denied(`A token of kind hook goes on only with sessions of its own user, and ${session} is none; leave it out.`)
  }
}

/** Refuses what says two things at once. */
function assertOnce({ once, retry }: Pick<NewTask, 'once' | 'retry'>): void {
  if (once && retry?.attempts !== undefined && retry.attempts > 1)
    throw invalid(
      `A task that is run once is never tried again, and this one is to be tried ${retry.attempts} times: leave out --once, or --attempts (once and retry.attempts in a file).`,
    )
}

type Keyed = NonNullable<tasks.TaskToInsert['idempotency']>

async function insertAll(
  to: Db | Tx,
  checked: readonly Checked[],
  keys: readonly Keyed[] | undefined,
): Promise<TaskRow[] | undefined> {
  const rows: TaskRow[] = []
  for (const [place, { related, ...task }] of checked.entries()) {
    const isRelated = related.parent !== undefined || related.dependsOn?.length
    const { trace, ...relations } = isRelated ? await relate(to as Tx, related) : {}
    const row = await tasks.insertTask(to, {
      ...task,
      ...(trace ? { spec: { ...task.spec, trace } } : {}),
      ...relations,
      idempotency: keys?.[place],
    })
    if (!row) return undefined
    rows.push(row)
  }
  return rows
}

function lost(key: string | undefined): never {
  throw new Error(`a task was not stored, and no other has its key ${key}`)
}

async function givenSession(db: Db, id: string | undefined): Promise<SessionRow | undefined> {
  if (id === undefined) return undefined
  // What is no id names none; the database would refuse some of it in its own words.
  const session = SessionId.safeParse(id).success ? await translateDbErrors(() => findSession(db, id)) : undefined
  if (!session) throw invalid(`There is no session ${id}; "pawl sessions ls" lists those there are.`)
  return session
}

/** For how long a good answer to a check is believed; what changes meanwhile a run finds out for itself. */
const holdsMs = 1_000

/** A check that costs as much as a query and whose answer holds for a moment. Only a good answer is kept. */
function onceASecond(clock: Clock, check: () => Promise<void>): () => Promise<void> {
  let goodAt = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | undefined
  const checked = async () => {
    try {
      await check()
      goodAt = clock.monotonic()
    } finally {
      checking = undefined
    }
  }
  return async () => {
    if (clock.monotonic() - goodAt < holdsMs) return
    // Those who come while it is found out wait for the same answer.
    checking ??= checked()
    await checking
  }
}
