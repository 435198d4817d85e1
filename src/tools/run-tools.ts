import { type Clock, systemClock } from '../base/clock.ts'
import type { ScriptSkill } from '../domain/agent/skill.ts'
import { decide } from '../domain/profile/decide.ts'
import type { Profile } from '../domain/profile/profile.ts'
import type { Fetcher } from '../sandbox/egress/fetch.ts'
import type { Walls } from '../sandbox/port.ts'
import type { Child } from '../sandbox/process/child.ts'
import type { Tool } from './base/tool.ts'
import { pathRulesOf } from './files/path-rules.ts'
import { createSshTools, type SshToolsOptions } from './ssh/ssh-tools.ts'
import { createRunInside } from './strict/run-inside.ts'
import { createSkillTools } from './strict/skill.ts'
import { createStrictTools } from './strict/strict.ts'
import type { Permit } from './strict/strict-parts.ts'

export interface RunToolsOptions {
  readonly profile: Profile
  /** What the program itself is confined to; the tools see no more and no less. */
  readonly walls: Pick<Walls, 'workspace' | 'mounts' | 'masks' | 'user'>
  readonly permit: Permit
  /** Asks a person, whatever the rules say. */
  readonly approve: Permit
  readonly fetch?: Fetcher | undefined
  /** Starts a command in walls like those of the run, under a kill unit of its own: ending the command must not end the program. */
  readonly launch: (command: { file: string; args: readonly string[] }) => Promise<Child>
  readonly ssh: Pick<SshToolsOptions, 'folder' | 'key' | 'audit'>
  /** Skills that are scripts; none where walls do not hold. */
  readonly scripts?: readonly ScriptSkill[] | undefined
  readonly clock?: Clock
}

/** What one run is offered beyond what every run has, as its profile says. Rejects where that cannot be offered safely: the run must not start then. */
export async function createRunTools(options: RunToolsOptions): Promise<Tool[]> {
  const { profile, clock = systemClock } = options
  return [
    ...(profile.tools.native ? [] : await strictTools(options, clock)),
    ...(profile.ssh ? sshTools(profile.ssh, options, clock) : []),
    ...createSkillTools(options.scripts ?? [], { permit: options.permit, runInside: createRunInside(options.launch, clock) }),
  ]
}

function strictTools({ profile, walls, permit, fetch, launch }: RunToolsOptions, clock: Clock): Promise<Tool[]> {
  const { workspace, mounts = [], masks, user } = walls
  return createStrictTools({
    roots: [{ ...workspace, mode: 'rw' }, ...mounts],
    user,
    masks,
    rules: pathRulesOf(profile),
    disabled: profile.tools.disabled,
    permit,
    mayRead(path) {
      const { verdict, from } = decide(
        profile,
        { tool: 'mcp__pawl__Read', input: { file_path: path } },
        { workspace: workspace.path },
      )
      // The search itself was asked about where no rule is about reading.
      return verdict === 'allow' || (verdict === 'ask' && from === 'otherwise')
    },
    fetch,
    runInside: createRunInside(launch, clock),
  })
}

/** Pre-approved by the profile that names the hosts: only what a rule denies is not let through. */
function sshTools(access: NonNullable<Profile['ssh']>, { profile, permit, approve, ssh }: RunToolsOptions, clock: Clock): Tool[] {
  const isDenied: Permit = async (request) => (decide(profile, request).verdict === 'deny' ? permit(request) : { allow: true })
  return createSshTools({ access, ...ssh, permit: isDenied, approve, clock })
}
