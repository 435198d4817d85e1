import { invalid } from '../error.ts'
import { parseRule } from '../rule/rule.ts'
import type { Profile, ProfileMount } from './profile.ts'

export interface Restrictions {
  /** Tools that are never used, as rules: `Bash`, `Bash(git push:*)`. */
  readonly disallowedTools?: readonly string[] | undefined
  /** More folders to read; absolute. */
  readonly contextDirs?: readonly string[] | undefined
}

/**
 * The profile as one task has it: what the task may not use is denied by it, and the folders it may read are mounted by it. It is copied into every run of the task,
 * so that a run that goes on after a question is held to the same as the first.
 */
export function restricted(profile: Profile, { disallowedTools = [], contextDirs = [] }: Restrictions): Profile {
  for (const text of disallowedTools) {
    const parsed = parseRule(text)
    if ('fault' in parsed) throw invalid(`"${text.slice(0, 100)}" of disallowedTools ${parsed.fault}.`)
  }
  const there = new Set(profile.mounts.map((mount) => mount.path))
  const added = [...new Set(contextDirs)].filter((folder) => !there.has(folder)).map(contextMount)
  return {
    ...profile,
    rules: { ...profile.rules, deny: [...new Set([...profile.rules.deny, ...disallowedTools])] },
    mounts: [...profile.mounts, ...added].sort((a, b) => (a.path < b.path ? -1 : 1)),
  }
}

/** Of these the real place is stored, and no other is meant. */
export const isOfTask = ({ name, description }: Pick<ProfileMount, 'name' | 'description'>) =>
  name === ofTask.name && description === ofTask.description

const ofTask = { name: 'context', description: 'for this task' }
const contextMount = (folder: string): ProfileMount => ({
  ...ofTask,
  source: folder,
  path: folder,
  mode: 'ro',
  persistent: false,
  required: true,
})
