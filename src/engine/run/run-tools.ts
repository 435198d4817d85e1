import { existsSync } from 'node:fs'
import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Profile } from '../../domain/profile/profile.ts'
import { mergeEnvironments } from '../../domain/profile/resolve.ts'
import { proxyEnvironment } from '../../sandbox/egress/environment.ts'
import type { NetworkAccess } from '../../sandbox/egress/network.ts'
import { readHomeFile, writeHomeFile } from '../../sandbox/files/home-files.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { findProgram } from '../../sandbox/process/program.ts'
import type { TakenRun } from '../../store/runs.ts'
import type { DoorVerbs } from '../endpoint/endpoint.ts'
import { type RunTools, toolHome } from '../endpoint/run-tools.ts'
import { openWayOut } from '../mcp-servers/launch.ts'
import { serversOfRun } from '../mcp-servers/run-servers.ts'
import { createPermissions, type PermissionParts, type Permissions } from '../rights/permissions.ts'
import type { RunParts } from './run.ts'
import type { Place } from './turn.ts'

/** What the tools may do in the name of the run. */
export interface ToolRights {
  readonly verbs: DoorVerbs
  readonly permissions: Permissions
  readonly asking: PermissionParts
  /** The way out for what they start; none where the profile names no host, or where walls do not hold. */
  readonly network: NetworkAccess | undefined
}

/** Undefined for a run that needs no more than every run has. */
export async function toolsOfRun(
  taken: TakenRun,
  parts: RunParts,
  place: Place,
  rights: ToolRights,
): Promise<RunTools | undefined> {
  const { profile, adapter, walls, records, voice, skills } = place
  const servers = serversOfRun(taken, parts, place, rights)
  const isNeeded = !profile.tools.native || profile.ssh !== undefined || skills.scripts.length > 0 || servers !== undefined
  if (!isNeeded || !adapter.can.mcp) return undefined
  const { task, run } = taken
  await makeToolHome(place)
  const folder = join(records, keysFolder)
  if (profile.ssh) {
    await parts.leftovers.remember(records, [], [keysFolder])
    await mkdir(folder, { recursive: true, mode: 0o700 })
  }
  return {
    profile,
    walls,
    permit: rights.permissions.admit,
    approve: createPermissions({ ...rights.asking, profile: alwaysAsking(profile) }).admit,
    launch: launching(taken, parts, place, rights),
    ssh: {
      folder,
      async key(name) {
        const [secret] = await parts.secretsFor([{ name, variable: name }], { agent: task.agent, user: task.user_name })
        voice.hide([secret!])
        return secret!.value
      },
      audit: (act) => parts.auditRemote(act, { user: task.user_name, task: task.id, run: run.id }),
    },
    scripts: skills.scripts,
    servers,
  }
}

/** Nothing that opens another machine outlives the run. */
export const endTools = async (parts: RunParts, place: Place): Promise<void> => {
  const { records, profile } = place
  if (profile.ssh) await parts.leftovers.forget(records)
  if (existsSync(toolHome(place))) await removeTree(toolHome(place))
}

const keysFolder = 'ssh'

async function makeToolHome(place: Place): Promise<void> {
  const { home, user } = place.walls
  const own = toolHome(place)
  await mkdir(own, { recursive: true, mode: 0o700 })
  if (user) await chown(own, user.uid, user.gid)
  const gitConfig = await readHomeFile({ home, path: '.gitconfig' }, 1024 * 1024)
  if (gitConfig !== undefined) await writeHomeFile({ home: own, path: '.gitconfig' }, gitConfig, { user })
}

const alwaysAsking = (profile: Profile): Profile => ({
  ...profile,
  rules: { ...profile.rules, allow: [], ask: ['mcp__pawl__ssh_exec'] },
})

/** Each command has a kill unit of its own. What the agent's program is given to be let in by its model is not among its variables. */
function launching(taken: TakenRun, parts: RunParts, place: Place, { verbs, network }: ToolRights): RunTools['launch'] {
  const { profile, sandbox, walls, workspace } = place
  const { run, task } = taken
  const settings = mergeEnvironments(profile.env, parts.userEnvironment(task.user_name))
  let started = 0
  return async ({ file, args }) => {
    const secrets = await parts.secretsFor(profile.secrets, { agent: task.agent, user: task.user_name })
    const env = {
      PATH: parts.path,
      ...parts.environment(settings.pass),
      ...settings.set,
      ...Object.fromEntries(secrets.map(({ variable, value }) => [variable, value])),
      ...(network ? proxyEnvironment() : {}),
    }
    const unit = sandbox.killUnit(`${run.id}-tool-${++started}`, run.fence)
    const found = await findProgram(file, { path: parts.path, folder: workspace.source })
    const walled = await sandbox.launch(
      { file: found, args, env },
      { ...walls, home: toolHome(place), unit, door: network !== undefined },
    )
    if (network) await openWayOut(walled, { ...verbs, network }, place.voice.log)
    return walled.child
  }
}
