import type { SkillsGiven } from '../port.ts'

/** For programs that cannot be shown a folder of skills: the agent is told which there are, and reads the one it needs. */
export function withSkills(systemPrompt: string | undefined, skills: SkillsGiven | undefined): string | undefined {
  if (!skills || skills.items.length === 0) return systemPrompt
  const told = [
    'You have skills: folders with instructions, and files that go with them, each for one kind of work. When one fits what you are to do, or you are told to use it, read its SKILL.md before you begin.',
    ...skills.items.map(({ name, description, path }) => `- ${name}: ${description} (${path}/SKILL.md)`),
  ].join('\n')
  return systemPrompt ? `${systemPrompt}\n\n${told}` : told
}
