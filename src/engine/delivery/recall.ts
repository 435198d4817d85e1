import { randomBytes } from 'node:crypto'
import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Adapter, Recalled } from '../../agents/port.ts'
import { hostPath, inPlace } from '../../domain/base/path.ts'
import type { Secret } from '../../domain/base/secret-names.ts'
import { messageOf, unsupported } from '../../domain/error.ts'
import type { Notification } from '../../domain/notification/notification.ts'
import { rightsOf } from '../../domain/profile/resolve.ts'
import { isEnded } from '../../domain/task/task.ts'
import { networkAccess } from '../../sandbox/egress/access.ts'
import { writeHomeFiles } from '../../sandbox/files/home-files.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { lastSessionsOf } from '../../store/sessions.ts'
import type { OutboxRow, TaskRow } from '../../store/tables.ts'
import { findTask } from '../../store/tasks.ts'
import { findKey } from '../auth/agent-access.ts'
import type { DoorVerbs } from '../endpoint/endpoint.ts'
import { openWayOut } from '../mcp-servers/launch.ts'
import { wallsOf } from '../rights/walls.ts'
import { installed, withEnvironment } from '../run/prepare.ts'
import type { RunParts } from '../run/run.ts'
import type { Sent } from './sender.ts'

/**
 * A task that was stopped here is stopped at an agent elsewhere too. Its run asks for that; where nobody could be reached then, or there was no run, the outbox asks again
 * until it is done or given up.
 */
export interface RecallSender {
  send(row: OutboxRow, signal: AbortSignal): Promise<Sent>
}

/** For the agents of these names; the row of the outbox says which task it is about. The tries of some five hours. */
export const recallTarget = (agents: readonly string[]): Notification => ({
  name: 'work elsewhere',
  events: ['task.cancelled', 'task.timed_out', 'task.over_budget'],
  agents,
  attempts: 12,
  way: { kind: 'recall' },
})

export type RecallParts = Pick<
  RunParts,
  | 'db'
  | 'journal'
  | 'clock'
  | 'log'
  | 'home'
  | 'path'
  | 'redactor'
  | 'environment'
  | 'userEnvironment'
  | 'adapterNamed'
  | 'wallsFor'
  | 'secretsFor'
>

const withinMs = 60_000

export function createRecallSender(parts: RecallParts): RecallSender {
  return {
    async send(row, signal) {
      try {
        const task = await findTask(parts.db, row.task_id)
        if (!task || !isEnded(task.state)) return { delivered: true, detail: 'The task goes on.' }
        const { adapter: name, options } = task.agent_config
        const adapter = parts.adapterNamed(name, options)
        const left = adapter.recall?.left(await lastSessionsOf(parts.db, task), task.id)
        if (left === undefined) return { delivered: true, detail: 'Nothing was left elsewhere.' }
        const late = AbortSignal.any([signal, AbortSignal.timeout(withinMs)])
        const { ended, detail } = await recallInside({ task, adapter, row, vendorId: left }, late, parts)
        return { delivered: ended, detail, ...(ended ? { note: detail } : {}) }
      } catch (error) {
        // Whatever it was, it is one failed try, kept with its reason.
        return { delivered: false, detail: parts.redactor.text(messageOf(error)) }
      }
    },
  }
}

/** The program of the adapter, in walls and with a way out like those of a run, but in empty folders. */
async function recallInside(
  { task, adapter, row, vendorId }: { task: TaskRow; adapter: Adapter; row: OutboxRow; vendorId: string },
  signal: AbortSignal,
  parts: RecallParts,
): Promise<Recalled> {
  const profile = rightsOf(task.agent_config)
  const { sandbox, health } = await parts.wallsFor(profile)
  const user = health.enforced ? health.user : undefined
  const hidden: (() => void)[] = []
  const hide = (secrets: readonly Secret[]) => {
    for (const { name, value } of secrets) hidden.push(parts.redactor.add(name, value))
  }
  const root = join(parts.home, 'recalls', row.id)
  const [workspace, home] = [join(root, 'workspace'), join(root, 'home')]
  try {
    // A try before this one may have died with its Pawl.
    await removeTree(root)
    for (const folder of [workspace, home]) await mkdir(folder, { recursive: true, mode: 0o700 })
    if (user) for (const folder of [root, workspace, home]) await chown(folder, user.uid, user.gid)
    const walls = wallsOf(profile, {
      unit: sandbox.killUnit(row.id, row.attempts),
      workspace: inPlace(workspace),
      home: hostPath(home),
      hidden: [hostPath(parts.home)],
      user,
      enforced: health.enforced,
      mounts: [],
      masks: [],
    })
    const spec = {
      options: adapter.options.parse(task.agent_config.options),
      prompt: '',
      workspace,
      home,
      extraArgs: [],
      walled: health.enforced,
    }
    const given = await parts.secretsFor(profile.secrets, { agent: task.agent, user: task.user_name })
    const variables = adapter.login?.variables ?? []
    const key = await findKey({ agent: task.agent_config, environment: parts.environment }, variables)
    hide([...given, ...(key ? [key] : [])])
    const plain = withEnvironment(adapter.command(spec), parts, {
      taken: { task },
      profile,
      places: [],
      isClosed: walls.network === 'none',
      doorToken: randomBytes(24).toString('base64url'),
      home,
      ids: {},
      access: key ? { [variables[0] ?? key.name]: key.value, [key.name]: key.value } : {},
      secrets: Object.fromEntries(given.map(({ variable, value }) => [variable, value])),
    })
    const command = await installed(plain, workspace)
    await writeHomeFiles(home, command, { user })
    signal.throwIfAborted()
    const walled = await sandbox.launch(command, { ...walls, door: true })
    try {
      const network =
        walls.network === 'none'
          ? networkAccess({
              profile: { ...profile, network: { ...profile.network, ask: [] } },
              baseUrl: task.agent_config.baseUrl,
              hosts: adapter.hosts,
              questions: [],
              ask: async () => undefined,
              record: (event) =>
                void Promise.resolve(parts.journal.append({ task: task.id, at: new Date(parts.clock.now()), event })).catch(
                  () => undefined,
                ),
              log: parts.log,
            })
          : undefined
      await openWayOut(walled, { ...nobody, network }, parts.log)
      const { ended, detail } = await adapter.recall!.end(walled.child, spec, vendorId, signal)
      return { ended, detail: parts.redactor.text(detail) }
    } finally {
      await walled.child.stop({ graceMs: 0 })
    }
  } finally {
    for (const reveal of hidden) reveal()
    await removeTree(root)
  }
}

/** No run is under way, so nobody can be asked anything in its name. */
const noRun = (): never => {
  throw unsupported('No run is under way here: what it left elsewhere is only ended.')
}
const nobody: DoorVerbs = { describe: noRun, ask: async () => noRun(), consult: async () => noRun(), notify: async () => noRun() }
