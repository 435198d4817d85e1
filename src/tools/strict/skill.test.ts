import { expect, test } from 'vitest'
import { createSkillTools } from './skill.ts'
import type { RunInside } from './strict-parts.ts'

const skill = { name: 'count', description: 'Counts words.', file: '/run/pawl/scripts/count/run it.sh' }
const verbs = { consult: async () => undefined, notify: async () => undefined }
const { signal } = new AbortController()

function offered(permit: Parameters<typeof createSkillTools>[1]['permit']) {
  const commands: string[] = []
  const runInside: RunInside = async (command) => {
    commands.push(command)
    return { stdout: 'three\n', stderr: '', code: 2, signal: null, timedOut: false }
  }
  return { commands, tools: createSkillTools([skill], { permit, runInside }) }
}

test('a script is a tool with the description of its skill, and no argument is read by a shell', async () => {
  const asked: unknown[] = []
  const { commands, tools } = offered(async (request) => {
    asked.push(request)
    return { allow: true }
  })
  expect(tools[0]).toMatchObject({ name: 'skill_count', description: expect.stringContaining('Counts words.') })
  expect(await tools[0]!.call({ args: ["it's", '$(x)'] }, verbs, signal)).toBe('three\nExit code 2.')
  expect(commands).toEqual([`exec '/run/pawl/scripts/count/run it.sh' 'it'\\''s' '$(x)'`])
  expect(asked).toEqual([{ tool: 'mcp__pawl__skill_count', input: { args: ["it's", '$(x)'] } }])
})

test('what the rules do not let through is not run', async () => {
  const { commands, tools } = offered(async () => ({ allow: false, message: 'Denied: by a rule.' }))
  await expect(tools[0]!.call({}, verbs, signal)).rejects.toThrow('Denied: by a rule.')
  await expect(tools[0]!.call({ stdin: 'x' }, verbs, signal)).rejects.toThrow('stdin')
  expect(commands).toEqual([])
})
