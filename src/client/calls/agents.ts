import type { SkillView, SubagentView } from '../../domain/agent/skill.ts'
import type { CallToExplain, DecisionView, ProfileSummary, ProfileView } from '../../domain/profile/view.ts'
import type { AgentView, Page } from '../../domain/view/view.ts'
import { api, type Wire } from '../transport/wire.ts'

/** Who works, and under which rights. */
export interface AgentCalls {
  listAgents(): Promise<AgentView[]>
  getAgent(name: string): Promise<AgentView>
  listProfiles(): Promise<ProfileSummary[]>
  getProfile(name: string): Promise<ProfileView>
  /** What would become of a tool call under that profile; nothing is run. */
  explainCall(profile: string, call: CallToExplain): Promise<DecisionView>
  /** Everybody's, and the caller's own. */
  listSkills(): Promise<SkillView[]>
  listSubagents(): Promise<SubagentView[]>
}

export const agentCalls = ({ get, post }: Wire): AgentCalls => ({
  listAgents: async () => (await get<Page<AgentView>>(`${api}/agents`)).items,
  getAgent: (name) => get(`${api}/agents/${encodeURIComponent(name)}`),
  listProfiles: async () => (await get<Page<ProfileSummary>>(`${api}/profiles`)).items,
  getProfile: (name) => get(profilePath(name)),
  explainCall: (profile, asked) => post(`${profilePath(profile)}/explain`, asked),
  listSkills: async () => (await get<Page<SkillView>>(`${api}/skills`)).items,
  listSubagents: async () => (await get<Page<SubagentView>>(`${api}/subagents`)).items,
})

const profilePath = (name: string) => `${api}/profiles/${encodeURIComponent(name)}`
