import { z } from 'zod'
import type { ScriptSkill } from '../../domain/agent/skill.ts'
import { longestAnswer } from '../base/answer-text.ts'
import { reaching, type Tool, tool } from '../base/tool.ts'
import { ranText } from './bash.ts'
import { gateBy, type Permit, type RunInside } from './strict-parts.ts'

const timeoutMs = 600_000

/** Skills that are scripts, each as a tool. They are run inside the walls and nowhere else. */
export const createSkillTools = (
  skills: readonly ScriptSkill[],
  { permit, runInside }: { permit: Permit; runInside: RunInside },
): Tool[] => skills.map((skill) => skillTool(skill, gateBy(permit), runInside))

const skillTool = ({ name, description, file }: ScriptSkill, gate: ReturnType<typeof gateBy>, runInside: RunInside): Tool =>
  tool({
    name: `skill_${name}`,
    description: `${description} A script, run in the workspace inside the walls of this run.`,
    annotations: reaching,
    input: z.strictObject({
      args: z.array(z.string().max(8_192)).max(64).optional().describe('Its arguments, one by one; no shell reads them.'),
    }),
    async run({ args = [] }, _, signal) {
      await gate(`skill_${name}`, { args })
      const command = ['exec', file, ...args].map((word, index) => (index === 0 ? word : quoted(word))).join(' ')
      return ranText(await runInside(command, { timeoutMs, signal, mostBytes: 2 * longestAnswer }), timeoutMs)
    },
  })

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`
