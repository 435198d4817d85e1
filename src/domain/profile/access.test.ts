import { expect, test } from 'vitest'
import { toolAccess } from './access.ts'
import { resolveProfile } from './resolve.ts'

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
  ).toMatchObject({
    free: ['Read'],
    checked: ['Glob', 'WebFetch', 'Bash', 'Edit', 'Task'],
    absent: ['Grep', 'MultiEdit', 'mcp__x__y', 'Skill'],
    because: {
      Bash: { from: 'rules.deny', text: 'deny Bash(rm:*)' },
      WebFetch: { from: 'rules.ask', text: 'ask WebFetch' },
      Edit: { from: 'otherwise', text: 'otherwise ask' },
      MultiEdit: { from: 'tools.disabled', text: 'tools.disabled MultiEdit' },
      Skill: { from: 'skills' },
    },
  })
})

test('guarded leaves all free; strict takes the native ones away', () => {
  const tools = ['Bash', 'Read', 'Write', 'Task', 'TodoWrite', 'mcp__pawl__Read', 'mcp__pawl__Bash']
  expect(toolAccess(resolveProfile('guarded'), tools)).toEqual({ free: tools, checked: [], absent: [], because: {} })
  expect(toolAccess(resolveProfile('strict'), tools)).toMatchObject({
    free: ['TodoWrite', 'mcp__pawl__Read'],
    checked: ['mcp__pawl__Bash'],
    absent: ['Bash', 'Read', 'Write', 'Task'],
  })
})

test('a shell is checked where a rule is about files', () => {
  const mine = resolveProfile('mine', { mine: { rules: { deny: ['Write(**/.env)'] } } })
  expect(toolAccess(mine, ['Bash', 'Read']).checked).toEqual(['Bash'])
})

test('where all that no rule names is denied, a tool that no rule names is not offered', () => {
  const mine = resolveProfile('mine', {
    mine: { rules: { allow: ['Bash(ls:*)', 'Read'], ask: ['WebFetch'], otherwise: 'deny' } },
  })
  expect(toolAccess(mine, ['Bash', 'Read', 'Write', 'WebFetch'])).toMatchObject({
    free: ['Read'],
    checked: ['Bash', 'WebFetch'],
    absent: ['Write'],
  })
})

test('subagents are decided by name where only some are named, and a question to a person is asked or not, never asked about', () => {
  const mine = resolveProfile('mine', { mine: { rules: { otherwise: 'ask' }, subagents: ['reviewer'] } })
  expect(toolAccess(mine, ['Agent', 'AskUserQuestion'])).toMatchObject({ free: ['AskUserQuestion'], checked: ['Agent'] })
  const none = resolveProfile('none', { none: { rules: { deny: ['AskUserQuestion(*password*)'] } } })
  expect(toolAccess(none, ['request_user_input']).absent).toEqual(['request_user_input'])
})
