import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resolveProfile } from '../../src/domain/profile/resolve.ts'
import { type Machine, type Program, programs, startMachine } from './peer.ts'

const skill = (description: string, more = '') => `---\ndescription: ${description}\n${more}---\nThe words of a skill.\n`

let machine: Machine
beforeAll(async () => {
  machine = await startMachine()
  await put('skills/greet/SKILL.md', skill('Says GREET-SKILL.'))
  await put('skills/other/SKILL.md', skill('Says OTHER-SKILL.'))
  await put('skills/count/SKILL.md', skill('Says COUNT-SKILL.', 'script: run.sh\n'))
  await put('skills/count/run.sh', '#!/bin/sh\npwd; echo "$# arguments, the first is $1"; echo changed > "$0" || echo REFUSED\n')
  await put('skills/broken/README.md', 'Nothing else.')
  await put('users/somebody/skills/private/SKILL.md', skill('Says PRIVATE-SKILL.'))
  await put('subagents/reviewer.md', '---\ndescription: Says REVIEWER-SUBAGENT.\ntools: Read, Grep\n---\nYou review.\n')
})
afterAll(() => machine.stop())

async function put(path: string, text: string, under = machine.home): Promise<void> {
  await mkdir(dirname(join(under, path)), { recursive: true })
  await writeFile(join(under, path), text)
}

/** One turn under a profile with these skills and subagents, in a repository that brings skills of its own. */
async function turn(
  program: Program,
  {
    skills,
    subagents,
    command,
    scenario = command === undefined ? 'echo-history' : 'shell',
  }: { skills: string[]; subagents: string[]; command?: string; scenario?: string },
) {
  const workspace = await machine.workspace()
  for (const folder of ['.claude', '.agents', '.codex'])
    await put(`${folder}/skills/planted/SKILL.md`, skill('Says PLANTED-SKILL.'), workspace)
  await put('.claude/agents/planted.md', '---\nname: planted\ndescription: Says PLANTED-SUBAGENT.\n---\nx\n', workspace)
  await chmod(workspace, 0o777)
  const rights = resolveProfile('mine', { mine: { extends: 'guarded', skills, subagents } })
  const agentConfig = machine.agent(program, scenario, { profile: 'mine', rights })
  const { task, events } = await machine.run({ agentConfig, workspace, prompt: `Do \`${command}\`` })
  const key = /@([\w-]+)/.exec(agentConfig.baseUrl!)![1]!
  const requests = machine.models.requestsOf(key)
  const body = (requests[0]?.body ?? {}) as { tools?: { name?: string }[] }
  return {
    task,
    workspace,
    requests,
    notes: events.flatMap((event) =>
      event.type === 'run.noted' && event.data.code === 'skill_left_out' ? [event.data.detail] : [],
    ),
    said: [...new Set(JSON.stringify(body).match(/[A-Z]+-(SKILL|SUBAGENT)/g) ?? [])].sort(),
    tools: body.tools?.map(({ name }) => name) ?? [],
    body: JSON.stringify(body),
  }
}

describe.each(programs)('the real $agent', (program) => {
  test('tells its model of the skills that the profile names, and of none that a repository brings or another user has', async () => {
    const { task, said, notes } = await turn(program, { skills: ['greet', 'broken', 'gone'], subagents: ['*'] })
    expect(task.state).toBe('completed')
    expect(said.filter((words) => words.endsWith('-SKILL'))).toEqual(['GREET-SKILL'])
    expect(notes).toEqual([
      'The skill "broken" has no SKILL.md; the run goes on without it.',
      'Profile "mine" names the skill "gone", and Pawl has none of that name.',
    ])
  })

  test('is shown all skills, and can read but not change them', async () => {
    const command =
      'tail -n 1 /run/pawl/skills/greet/SKILL.md; ls /run/pawl/skills; touch /run/pawl/skills/x /run/pawl/x 2>/dev/null || echo REFUSED'
    const { task } = await turn(program, { skills: ['*'], subagents: ['*'], command })
    expect(task.result?.text).toMatch(/The words of a skill\.\s+greet\s+other\s+REFUSED/)
  })

  test('calls a skill that is a script as a tool, and it is run inside the walls', async () => {
    const { task, workspace } = await turn(program, { skills: ['count'], subagents: [], scenario: 'skill-script' })
    expect(task.result?.text).toContain(`${workspace}\n2 arguments, the first is it's`)
    expect(task.result?.text).toContain('REFUSED')
  })

  test('has no skills and no subagents where the profile has none', async () => {
    const { task, said, tools, body } = await turn(program, {
      skills: [],
      subagents: [],
      command: 'ls -d /run/pawl || echo NOTHING',
    })
    expect(task.result?.text).toContain('NOTHING')
    expect(said).toEqual([])
    expect(tools.filter((name) => /^(Skill|Task|Agent|multi_agent.*|spawn_agent)$/.test(name ?? ''))).toEqual([])
    expect(body).not.toContain('skill-creator')
  })
})

const [claude, codex] = programs as [Program, Program]

test.each([
  ['a skill that the profile names is used by the real claude', ['greet'], true],
  ['one that it does not name is not', ['other'], false],
])('%s', async (_, skills, isUsed) => {
  const { requests } = await turn(claude, { skills, subagents: [], scenario: 'skill' })
  expect(JSON.stringify(requests.at(-1)?.body).includes('The words of a skill.')).toBe(isUsed)
})

describe('subagents', () => {
  test('of a profile take the place of those that the real claude brings', async () => {
    const { said, body } = await turn(claude, { skills: [], subagents: ['reviewer'] })
    expect(said).toEqual(['REVIEWER-SUBAGENT'])
    expect(body).not.toContain('- Explore:')
    const all = await turn(claude, { skills: [], subagents: ['*'] })
    expect(all.said).toEqual(['REVIEWER-SUBAGENT'])
    expect(all.body).toContain('- Explore:')
  })

  test('that codex is to have by name are refused in a sentence', async () => {
    const { task } = await turn(codex, { skills: [], subagents: ['reviewer'] })
    expect(task.state).toBe('failed')
    expect(JSON.stringify(task)).toContain('Codex cannot be given subagents, and profile \\"mine\\" names reviewer')
  })
})
