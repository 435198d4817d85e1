import { invalid } from '../error.ts'
import { parseRule } from '../rule/rule.ts'
import type { Profile, ProfileMount } from './profile.ts'

export interface Restrictions {
  /** Tools that are never used, as rules: `Bash`, `Bash(git push:*)`. */
  readonly disallowedTools?: readonly string[] | undefined
  /** More folders to read; absolute. */
  readonly contextDirs?: readonly string[] | undefined
  /** Those of them that may be written too. */
  readonly writableDirs?: readonly string[] | undefined
  /** What the task's user has under every profile, and what the task names itself. */
  readonly mounts?: readonly ProfileMount[] | undefined
}

/**
 * The profile as one task has it: what the task may not use is denied by it, and the folders that its user or itself brings are mounted by it, where the profile has
 * none at that path. It is copied into every run of the task,
 * so that a run that goes on after a question is held to the same as the first.
 */
export function restricted(
  profile: Profile,
  { disallowedTools = [], contextDirs = [], writableDirs = [], mounts = [] }: Restrictions,
): Profile {
  for (const text of disallowedTools) {
    const parsed = parseRule(text)
    if ('fault' in parsed) throw invalid(`"${text.slice(0, 100)}" of disallowedTools ${parsed.fault}.`)
  }
  const at = new Map(profile.mounts.map((mount) => [mount.path, mount]))
  for (const mount of [
    ...mounts,
    ...contextDirs.map((folder) => contextMount(folder, writableDirs.includes(folder) ? 'rw' : 'ro')),
  ]) {
    const there = at.get(mount.path)
    if (there && mount.from === 'task' && mount.mode === 'rw' && there.mode === 'ro')
      throw invalid(`${mount.path} is read-only under the profile "${profile.name}"; leave rw out, or name another profile.`)
    if (!there) at.set(mount.path, mount)
    else if (mount.alias !== undefined) at.set(mount.path, { ...there, alias: mount.alias })
  }
  return {
    ...profile,
    rules: { ...profile.rules, deny: [...new Set([...profile.rules.deny, ...disallowedTools])] },
    mounts: [...at.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
  }
}

/** Of these the real place is stored, and no other is meant. */
export const isOfTask = ({ from }: Pick<ProfileMount, 'from'>) => from === 'task'

const contextMount = (folder: string, mode: ProfileMount['mode']): ProfileMount => ({
  name: 'context',
  description: 'for this task',
  source: folder,
  path: folder,
  mode,
  persistent: false,
  required: true,
  from: 'task',
})
