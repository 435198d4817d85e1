import { expect, test } from 'vitest'
import { skillArgs, skillVariables, subagentArgs } from './skills.ts'

const review = { name: 'review', description: 'Reviews.', path: '/run/pawl/skills/review' }
const given = { own: false, folder: '/run/pawl', items: [review] }

test('skills come as a plugin of this start, without those of the program itself unless all are allowed', () => {
  expect(skillArgs({ skills: given })).toEqual(['--plugin-dir=/run/pawl'])
  expect(skillVariables({ skills: given })).toEqual({ CLAUDE_CODE_DISABLE_BUNDLED_SKILLS: '1' })
  expect(skillVariables({ skills: { ...given, own: true } })).toEqual({})
})

test('without skills the tool for them is off, and where nobody decided the program is left alone', () => {
  const none = { own: false, items: [] }
  expect(skillArgs({ skills: none })).toEqual(['--disallowedTools=Skill', '--disable-slash-commands'])
  expect(skillArgs({ skills: none, version: '2.0.5' })).toEqual(['--disallowedTools=Skill'])
  expect(skillArgs({ skills: { own: true, items: [] } })).toEqual([])
  expect([skillArgs({}), skillVariables({}), subagentArgs({})]).toEqual([[], {}, []])
})

test('a program that is too old for skills says so', () => {
  expect(() => skillArgs({ skills: given, version: '2.0.5' })).toThrow(
    'Claude Code 2.0.5 cannot be given skills; update it, or name none in the profile.',
  )
})

test('subagents are defined whole, and those of the program go unless they are named too', () => {
  const helper = { name: 'helper', description: 'Helps.', prompt: 'You help.', tools: ['Read'], model: undefined }
  const args = subagentArgs({ subagents: { own: ['helper', 'Explore'], items: [helper] } })
  expect(args).toContain('--disallowedTools=Task(general-purpose)')
  expect(args).not.toContain('--disallowedTools=Task(Explore)')
  expect(args.at(-1)).toBe('--agents={"helper":{"description":"Helps.","prompt":"You help.","tools":["Read"]}}')
  expect(subagentArgs({ subagents: { own: 'all', items: [] } })).toEqual([])
  expect(subagentArgs({ subagents: { own: [], items: [] } })).toEqual(['--disallowedTools=Task'])
})
