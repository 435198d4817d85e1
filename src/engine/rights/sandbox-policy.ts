import type { Profile } from '../../domain/profile/profile.ts'
import { toolNamed } from '../../domain/rule/tools.ts'

export interface WallsInForce {
  /** Do the walls hold here? */
  readonly enforced: boolean
}

/** The tools whose answers say what the sandbox allows: those that touch files, programs or the network. */
const told = new Set(['Bash', 'Read', 'ReadDocument', 'Write', 'Glob', 'Grep', 'LS', 'WebFetch', 'WebSearch'])

/** What the walls around the run are, for an agent that was refused something. Undefined for tools that do not touch them. */
export function policySentence(
  tool: string,
  {
    profile,
    workspace,
    walls,
  }: { profile: Pick<Profile, 'walls' | 'mounts' | 'network'>; workspace: string; walls: WallsInForce },
): string | undefined {
  if (!told.has(toolNamed(tool).name)) return undefined
  const isOn = profile.walls && walls.enforced
  if (!isOn)
    return 'Sandbox policy: file sandboxing is off, network sandboxing is off. The rules of the profile hold all the same.'
  const writable = [workspace, ...profile.mounts.filter((mount) => mount.mode === 'rw').map((mount) => mount.path)]
  const readonly = profile.mounts.filter((mount) => mount.mode === 'ro').map((mount) => mount.path)
  const lists = `Writable: ${writable.join(', ')}. Read-only: ${readonly.length > 0 ? readonly.join(', ') : 'the system'}.`
  return `Sandbox policy: file sandboxing is on, network sandboxing is on. ${lists} Do not try to get around it.`
}
