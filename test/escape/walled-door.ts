import { randomUUID } from 'node:crypto'
import { chmodSync, lchownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { hostPath, inPlace } from '../../src/domain/base/path.ts'
import { type Door, serveDoor } from '../../src/engine/endpoint/endpoint.ts'
import { createBubblewrap } from '../../src/sandbox/bubblewrap/sandbox.ts'
import { readRules } from '../../src/sandbox/egress/host-rule.ts'
import type { NetworkAccess, NetworkEvent } from '../../src/sandbox/egress/network.ts'
import type { Walled, Walls } from '../../src/sandbox/port.ts'
import { agentUser } from '../../src/sandbox/process/agent-user.ts'

export const sandbox = createBubblewrap()
export const user = process.getuid?.() === 0 ? agentUser : undefined

/** A workspace behind walls as a run of the guarded profile has them, with a served door. */
export interface WalledPlace {
  readonly base: string
  readonly workspace: string
  readonly walls: Walls
  /** Starts a command; the door serves this token, and leads to what these rules allow. */
  start(command: Started, wayOut?: WayOut): Promise<{ walled: Walled; door: Door; events: NetworkEvent[] }>
  run(command: Started, wayOut?: WayOut): Promise<{ out: string; err: string; code: number | null }>
  remove(): void
}

interface Started {
  readonly file: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly token?: string
  readonly walls?: Partial<Walls>
}
type WayOut = { allow?: readonly string[]; ask?: readonly string[]; deny?: readonly string[]; resolve?: NetworkAccess['resolve'] }

/** Outside of /tmp, which is the agent's own inside. */
export function walledPlace(): WalledPlace {
  const base = mkdtempSync('/var/tmp/pawl-walled-')
  chmodSync(base, 0o755)
  const folder = (name: string) => {
    mkdirSync(join(base, name))
    if (user) lchownSync(join(base, name), user.uid, user.gid)
    return join(base, name)
  }
  const workspace = folder('project')
  const walls: Walls = {
    unit: sandbox.killUnit(`walled-${randomUUID()}`, 1),
    workspace: inPlace(workspace),
    home: hostPath(folder('home')),
    hidden: [],
    user,
    network: 'none',
    door: true,
    limits: { processes: 256, openFiles: 1024, memoryBytes: 2 * 1024 ** 3, fileBytes: 256 * 1024 * 1024 },
  }
  const start: WalledPlace['start'] = async (command, wayOut = {}) => {
    const { file, args, env = {}, token = 'the-token' } = command
    const walled = await sandbox.launch({ file, args, env }, { ...walls, ...command.walls })
    const door = serveDoor(walled.door!.server, { token })
    const events: NetworkEvent[] = []
    const { resolve, ...lists } = wayOut
    const network = {
      profile: 'guarded',
      rules: readRules({ allow: [], ask: [], deny: [], ...lists }),
      ask: async () => undefined,
      record: (event: NetworkEvent) => void events.push(event),
      ...(resolve ? { resolve } : {}),
    }
    const describe = () => ({ task: 'task_1', run: 'run_1', attempt: 1 })
    const verbs = { ask: async () => ({ id: 'question_1' }), consult: async () => undefined, notify: async () => undefined }
    await door.bind({ describe, ...verbs, network })
    return { walled, door, events }
  }
  return {
    base,
    workspace,
    walls,
    start,
    async run(command, wayOut) {
      const { walled, door } = await start(command, wayOut)
      walled.child.stdin.end()
      const [out, err, exit] = await Promise.all([text(walled.child.stdout), text(walled.child.stderr), walled.child.exited])
      await walled.child.stop({ graceMs: 0 })
      await door.close()
      return { out, err, code: exit.code }
    },
    remove: () => rmSync(base, { recursive: true, force: true }),
  }
}
