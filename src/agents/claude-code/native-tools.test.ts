import { expect, test } from 'vitest'
import { toolAccess } from '../../domain/profile/access.ts'
import { resolveProfile } from '../../domain/profile/resolve.ts'
import { claudeCommand } from './command.ts'
import { nativeTools, ownTools } from './native-tools.ts'
import { ClaudeCodeOptions } from './options.ts'

test('a program whose own tools are off is offered none of them, but what gives it the skills and subagents of the profile', () => {
  expect(nativeTools({ native: false })).toEqual(['--tools='])
  expect(nativeTools({ native: true })).toEqual([])
  const skills = { own: false, folder: '/run/pawl', items: [] }
  const subagents = { own: [], items: [{ name: 'helper', description: 'Helps.', prompt: 'Help.' }] }
  expect(nativeTools({ native: false, skills, subagents })).toEqual(['--tools=Skill,Agent,Task'])
})

test('a version that always has its own tools is refused', () => {
  expect(() => nativeTools({ native: false, version: '2.0.10' })).toThrow(/^Claude Code 2\.0\.10 cannot do without its own tools/)
})

test('a tool that the profile disables goes under every name that the program has for it', () => {
  expect(nativeTools({ disabledTools: ['WebSearch', 'shell', 'Notebook*', 'nobody-has-it'] })).toEqual([
    '--disallowedTools=Bash',
    '--disallowedTools=NotebookEdit',
    '--disallowedTools=NotebookRead',
    '--disallowedTools=WebSearch',
  ])
})

test('no argument brings tools back', () => {
  const options = ClaudeCodeOptions.parse({})
  const spec = { options, prompt: '', workspace: '/w', home: '/h', extraArgs: [], native: false }
  expect(() => claudeCommand({ ...spec, extraArgs: ['--tools=Bash'] })).toThrow('--tools cannot be given to Claude Code')
})

test('a tool whose every call the rules refuse is not offered; where all are off, it need not be named', () => {
  const access = toolAccess(resolveProfile('mine', { mine: { rules: { deny: ['Read', 'Write'] } } }), ownTools)
  expect(nativeTools({ toolAccess: access })).toEqual(
    ['Edit', 'MultiEdit', 'NotebookEdit', 'NotebookRead', 'Read', 'Write'].map((name) => `--disallowedTools=${name}`),
  )
  expect(nativeTools({ native: false, toolAccess: toolAccess(resolveProfile('strict'), ownTools) })).toEqual([
    '--tools=',
    ...['Agent', 'Skill', 'Task', 'WebSearch'].map((name) => `--disallowedTools=${name}`),
  ])
})
