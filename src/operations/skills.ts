import type { SkillView, SubagentView } from '../domain/agent/skill.ts'
import { localUser } from '../domain/auth/role.ts'
import type { Caller } from '../engine/auth/audit.ts'
import { findSkills, findSubagents } from '../engine/skills/find-skills.ts'

/** What can be asked about skills: everybody's, and those of whoever asks. */
export interface SkillVerbs {
  listSkills(caller: Pick<Caller, 'user'>): Promise<SkillView[]>
  listSubagents(caller: Pick<Caller, 'user'>): Promise<SubagentView[]>
}

export function skillVerbs({ home }: { readonly home: string }): SkillVerbs {
  const place = ({ user }: Pick<Caller, 'user'>) => ({ home, user: user ?? localUser })
  return {
    listSkills: async (caller) => (await findSkills(place(caller))).map(({ view }) => view),
    listSubagents: async (caller) => (await findSubagents(place(caller))).map(({ view }) => view),
  }
}
