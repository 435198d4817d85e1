import { expect, test } from 'vitest'
import { resolveProfile } from './profile-resolve.ts'
import { toolAccess } from './rule-access.ts'

test('from a profile follows which tools are free, checked, or absent', () => {
  const mine = resolveProfile('mine', {
    mine: {
      rules: { allow: ['Read', 'Glob(src/**)'], ask: ['WebFetch'], deny: ['Grep', 'Bash(rm:*)'], otherwise: 'ask' },
      tools: { disabled: ['MultiEdit', 'mcp__x__*'] },
      skills: [],
    },
  })
  expect(
    toolAccess(mine, ['Read', 'Glob', 'WebFetch', 'Grep', 'Bash', 'MultiEdit', 'Edit', 'mcp__x__y', 'Skill', 'Task']),
  ).toEqual({
    free: ['Read'],
    checked: ['Glob', 'WebFetch', 'Bash', 'Edit', 'Task'],
    absent: ['Grep', 'MultiEdit', 'mcp__x__y', 'Skill'],
  })
})

test('guarded leaves all free but subagents and skills, which are decided by name; strict takes the native ones away', () => {
  const tools = ['Bash', 'Read', 'Write', 'Task', 'TodoWrite', 'mcp__pawl__Read', 'mcp__pawl__Bash']
  expect(toolAccess(resolveProfile('guarded'), tools)).toEqual({
    free: tools.filter((tool) => tool !== 'Task'),
    checked: ['Task'],
    absent: [],
  })
  expect(toolAccess(resolveProfile('strict'), tools)).toEqual({
    free: ['TodoWrite', 'mcp__pawl__Read'],
    checked: ['mcp__pawl__Bash'],
    absent: ['Bash', 'Read', 'Write', 'Task'],
  })
})

test('a shell is checked where a rule is about files', () => {
  const mine = resolveProfile('mine', { mine: { rules: { deny: ['Write(**/.env)'] } } })
  expect(toolAccess(mine, ['Bash', 'Read']).checked).toEqual(['Bash'])
})
