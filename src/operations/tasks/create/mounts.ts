import { realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { localUser } from '../../../domain/auth/role.ts'
import { didYouMean } from '../../../domain/base/nearest.ts'
import { hostPath, isInside, workspacePathIfAny } from '../../../domain/base/path.ts'
import { denied, invalid } from '../../../domain/error.ts'
import type { ProfileMount } from '../../../domain/profile/profile.ts'
import { aliasFolder, type TaskMount } from '../../../domain/task/mount.ts'
import type { Caller } from '../../../engine/auth/audit.ts'
import type { TaskCreatorParts } from './parts.ts'

type Parts = Pick<TaskCreatorParts, 'home' | 'mountBases' | 'userMounts'>

/** What a task has beside its profile: the mounts of its user, and those that it names. Undefined if there are none. */
export async function mountsOfTask(
  parts: Parts,
  asked: readonly TaskMount[] | undefined,
  { caller, workspace }: { caller: Caller; workspace: string },
): Promise<ProfileMount[] | undefined> {
  const user = caller.user ?? localUser
  const ofUser = parts.userMounts?.(user) ?? []
  if (!asked?.length) return ofUser.length > 0 ? [...ofUser] : undefined
  const aliases = asked.flatMap(({ alias }) => alias ?? [])
  const twice = aliases.find((alias, index) => aliases.indexOf(alias) !== index)
  if (twice !== undefined) throw invalid(`Two mounts of this task have the alias "${twice}"; choose another for one of them.`)
  const home = hostPath(await realpath(parts.home).catch(() => parts.home))
  const here = hostPath(workspace)
  const named = await Promise.all(asked.map((one) => mountOf(parts, one, user)))
  for (const [index, mount] of named.entries()) {
    const source = hostPath(mount.source)
    if (isInside(home, source) || isInside(source, home))
      throw invalid(`The mount ${written(asked[index]!)} would show Pawl's own files to the agent; name another.`)
    if (isInside(source, here) || isInside(here, source))
      throw invalid(`The mount ${written(asked[index]!)} would show the workspace a second time; name something beside it.`)
    if (named.findIndex((other) => other.source === source) !== index)
      throw invalid(`The mount ${written(asked[index]!)} is named twice; keep one of the two.`)
  }
  // First: who names a folder for one task means that mode, and not the one that the user has it in otherwise.
  return [...named, ...ofUser]
}

/** Names what is asked for and no more: links are followed here, and where they lead out of the base it is refused. */
async function mountOf({ mountBases = {} }: Parts, asked: TaskMount, user: string): Promise<ProfileMount> {
  const { base: name, subpath, alias, mode = 'ro' } = asked
  // Those of others are not even told of.
  const offered = Object.entries(mountBases).filter(([, { users }]) => !users || user === localUser || users.includes(user))
  const names = offered.map(([known]) => known)
  const base = offered.find(([known]) => known === name)?.[1]
  if (!base)
    throw invalid(
      `There is no mount "${name}"${didYouMean(name, names)} ${names.length > 0 ? `Tasks may name: ${names.join(', ')}.` : 'The settings offer none: see "mounts".'}`,
    )
  if (mode === 'rw' && base.mode !== 'rw')
    throw denied(`The mount "${name}" is read-only for tasks; leave rw out, or let the settings say mode: rw.`)
  if (subpath !== undefined && (subpath.includes('\0') || workspacePathIfAny(subpath) === undefined))
    throw invalid(`The part "${subpath}" of mount "${name}" must be a path below it, without "..".`)
  const root = await realpath(base.path).then(hostPath, () => undefined)
  const source = await realpath(join(base.path, subpath ?? '.')).then(hostPath, () => undefined)
  if (root === undefined || source === undefined)
    throw invalid(`The mount ${written(asked)} is not there: ${join(base.path, subpath ?? '')}; make it first, or leave it out.`)
  if (!isInside(root, source)) throw denied(`The mount ${written(asked)} leads out of ${base.path}; name where it leads.`)
  return {
    name: alias ?? (subpath === undefined ? name : basename(source)),
    description: base.description,
    source,
    path: source,
    mode,
    persistent: false,
    required: true,
    from: 'task',
    ...(alias === undefined ? {} : { alias: `${aliasFolder}/${alias}` }),
  }
}

const written = ({ base, subpath }: TaskMount) => `"${subpath === undefined ? base : `${base}/${subpath}`}"`
