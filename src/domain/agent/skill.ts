import { z } from 'zod'

/** As part of a tool's name it must be one that every model takes. */
export const skillName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/

export const skillScopes = ['global', 'user'] as const
/** `script`: run inside the walls as a tool. `instructions`: read by the agent. */
export const skillKinds = ['instructions', 'script'] as const

export const SkillView = z.object({
  name: z.string(),
  scope: z.enum(skillScopes),
  kind: z.enum(skillKinds),
  description: z.string(),
  problem: z.string().nullable().describe('Why no run is given it; null if nothing is wrong.'),
})
export type SkillView = z.infer<typeof SkillView>

export const SubagentView = SkillView.omit({ kind: true })
export type SubagentView = z.infer<typeof SubagentView>

/** A skill that is a script, as it is seen inside the walls. */
export interface ScriptSkill {
  readonly name: string
  readonly description: string
  readonly file: string
}
