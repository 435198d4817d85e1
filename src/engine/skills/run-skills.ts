import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Adapter, LaunchSpec } from '../../agents/port.ts'
import type { ScriptSkill } from '../../domain/agent/skill.ts'
import { hostPath, sandboxPath } from '../../domain/base/path.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import type { Walls } from '../../sandbox/port.ts'
import { RunFailure } from '../base/failure.ts'
import { type FoundSkill, type FoundSubagent, findSkills, findSubagents, type SkillPlace } from './find-skills.ts'
import { placeOf, showSkills } from './show-skills.ts'

/** What one run is given of skills and subagents. */
export interface RunSkills {
  readonly given: Required<Pick<LaunchSpec, 'skills' | 'subagents'>>
  readonly mounts: NonNullable<Walls['mounts']>
  /** To be offered as tools that run inside the walls. */
  readonly scripts: readonly ScriptSkill[]
  /** What of it could not be given, each a sentence: the run goes on without. */
  readonly notes: readonly string[]
  /** A program that was started with the same may serve the run. */
  readonly likeness: string
}

export interface SkillsWanted extends SkillPlace {
  readonly profile: Pick<Profile, 'name' | 'skills' | 'subagents'>
  readonly adapter: Pick<Adapter, 'title' | 'can'>
  /** Do walls hold? Without them no script is run, and skills are seen where they lie. */
  readonly enforced: boolean
  readonly nowMs: number
}

/** Where skills are seen inside: in a room that each walls have for themselves, so that no folder of anybody is needed for it. */
const inside = sandboxPath('/run/pawl')

/** Chooses by the profile. Fails the run only where the profile names what the program cannot be given; one bad skill is a note. */
export async function skillsOfRun(wanted: SkillsWanted): Promise<RunSkills> {
  const { profile, adapter, home, enforced, nowMs } = wanted
  refuseUnable(wanted)
  const notes: string[] = []
  const choose = <Found extends FoundSkill | FoundSubagent>(what: 'skill' | 'subagent', found: readonly Found[]): Found[] => {
    const names = profile[`${what}s`]
    const chosen = found.filter(({ view }) => names.includes('*') || names.includes(view.name))
    for (const { view } of chosen)
      if (view.problem !== null) notes.push(`The ${what} "${view.name}" ${view.problem}; the run goes on without it.`)
    for (const name of names)
      if (name !== '*' && !found.some(({ view }) => view.name === name))
        notes.push(`Profile "${profile.name}" names the ${what} "${name}", and Pawl has none of that name.`)
    return chosen.filter(({ view }) => view.problem === null)
  }
  const usable = isAny(profile.skills) ? choose('skill', await findSkills(wanted)) : []
  const subagents = adapter.can.subagents && isAny(profile.subagents) ? choose('subagent', await findSubagents(wanted)) : []
  const pages = adapter.can.skills ? usable.filter(({ view }) => view.kind === 'instructions') : []
  const scripts = adapter.can.mcp ? usable.filter(({ view }) => view.kind === 'script') : []
  const offered = enforced ? scripts : []
  if (scripts.length > offered.length)
    notes.push(`There are no walls here to run scripts in, so these skills are not offered: ${namesOf(scripts)}.`)

  const shown = pages.length + offered.length > 0 ? await showSkills(home, [...pages, ...offered], nowMs) : undefined
  const seen = enforced ? inside : (shown?.folder ?? '')
  const given: RunSkills['given'] = {
    skills: {
      own: profile.skills.includes('*'),
      folder: pages.length > 0 ? seen : undefined,
      items: pages.map(({ view }) => ({ name: view.name, description: view.description, path: join(seen, placeOf(view)) })),
    },
    subagents: {
      own: profile.subagents.includes('*') ? 'all' : profile.subagents,
      items: subagents.map(({ view, prompt, tools, model }) => ({
        name: view.name,
        description: view.description,
        prompt,
        tools,
        model,
      })),
    },
  }
  return {
    given,
    mounts: shown && enforced ? [{ source: hostPath(shown.folder), path: inside, mode: 'ro' }] : [],
    scripts: offered.map(({ view, script }) => ({
      name: view.name,
      description: view.description,
      file: join(seen, placeOf(view), script!),
    })),
    notes,
    likeness: createHash('sha256')
      .update(JSON.stringify([shown?.digest, given]))
      .digest('hex'),
  }
}

const isAny = (names: readonly string[]) => names.length > 0
const namesOf = (found: readonly { view: { name: string } }[]) => found.map(({ view }) => view.name).join(', ')

/** `*` means whatever there is, which for such a program is nothing. Who names some wants them. */
function refuseUnable({ profile, adapter }: SkillsWanted): void {
  for (const what of ['skills', 'subagents'] as const) {
    const named = profile[what].filter((name) => name !== '*')
    if (adapter.can[what] || named.length === 0) continue
    throw new RunFailure(
      'bad_config',
      `${adapter.title} cannot be given ${what}, and profile "${profile.name}" names ${named.join(', ')}: take them out of the profile, or use an agent that can.`,
    )
  }
}
