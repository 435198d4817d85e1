import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import { until } from '../engine/home.ts'
import { geminiProgram, type Machine, ollamaLoop, opencodeProgram, type Program, programs, startMachine } from './peer.ts'

let machine: Machine
beforeAll(async () => {
  machine = await startMachine()
})
afterAll(() => machine.stop())

const skill = '---\nname: planted\ndescription: Says PLANTED-SKILL.\n---\nx\n'

/** A repository as people keep them, with all that Claude Code takes by itself. */
const files = {
  'CLAUDE.md': 'Always say CLAUDE-WORDS.\n',
  'AGENTS.md': 'Always say AGENTS-WORDS.\n',
  'GEMINI.md': 'Always say GEMINI-WORDS.\n',
  '.claude/skills/planted/SKILL.md': skill,
  '.claude/agents/planted.md': '---\nname: planted\ndescription: Says PLANTED-AGENT.\n---\nx\n',
  '.claude/settings.json': JSON.stringify({
    hooks: { SessionStart: [{ hooks: [{ type: 'command', command: 'touch by-hook' }] }] },
  }),
  '.mcp.json': JSON.stringify({ mcpServers: { evil: { command: 'touch', args: ['by-server'] } } }),
}

async function repository(more: Record<string, string> = files): Promise<string> {
  const workspace = await machine.workspace()
  for (const [path, text] of Object.entries(more)) {
    await mkdir(dirname(join(workspace, path)), { recursive: true })
    await writeFile(join(workspace, path), text)
  }
  // What the agent's user may not write makes the run work on a copy, and then no program stays.
  execFileSync('chmod', ['-R', 'a+rwX', workspace])
  return workspace
}

/** What one run told its model in the first request that was about the prompt, and what it noted of the repository. */
async function turn(program: Program<string>, changes: Partial<ResolvedAgent> = {}) {
  const workspace = await repository()
  const agentConfig = machine.agent(program, 'echo-history', changes)
  const { task, events } = await machine.run({ agentConfig, workspace, prompt: 'THE-PROMPT' })
  const key = /@([\w-]+)/.exec(agentConfig.baseUrl!)![1]!
  const bodies = machine.models.requestsOf(key).map(({ body }) => JSON.stringify(body))
  const body = bodies.findLast((text) => text.includes('THE-PROMPT')) ?? ''
  return {
    task,
    body,
    said: [...new Set(body.match(/[A-Z]+-(WORDS|SKILL|AGENT)\b/g) ?? [])].sort(),
    notes: events.flatMap((event) => (event.type === 'run.noted' && event.data.code === 'repository' ? [event.data.detail] : [])),
  }
}

const codeNote = (what: string) => `Not used, because it can run code: ${what} (docs/profiles.md says what to do instead).`

const cases: { program: Program<string>; words: string[]; note: string }[] = [
  {
    program: programs[0]!,
    words: ['AGENTS-WORDS', 'CLAUDE-WORDS'],
    note: `Used from the repository: CLAUDE.md, AGENTS.md. ${codeNote('1 skill, 1 agent, 1 hook, .claude/settings.json, .mcp.json')}`,
  },
  { program: programs[1]!, words: ['AGENTS-WORDS'], note: 'Used from the repository: AGENTS.md.' },
  {
    program: geminiProgram,
    words: ['AGENTS-WORDS', 'GEMINI-WORDS'],
    note: 'Used from the repository: GEMINI.md, AGENTS.md.',
  },
  {
    program: opencodeProgram,
    words: ['AGENTS-WORDS'],
    note: `Used from the repository: AGENTS.md. ${codeNote('1 skill')}`,
  },
  { program: ollamaLoop, words: ['AGENTS-WORDS'], note: 'Used from the repository: AGENTS.md.' },
]

describe.each(cases)('the real $program.agent', ({ program, words, note }) => {
  test('tells its model what the instruction files of the repository say, labelled, and the run says what was used', async () => {
    const { task, said, body, notes } = await turn(program)
    expect(task.state).toBe('completed')
    expect(said).toEqual(words)
    expect(body).toContain('[AGENTS.md of the repository]')
    expect(notes).toEqual([note])
  })

  test('tells it nothing of them where the agent or the profile says so', async () => {
    const { options } = machine.agent(program, 'text')
    const off = await turn(program, { options: { ...options, repositoryInstructions: false } })
    expect(off.said).toEqual(words.filter((word) => word === 'GEMINI-WORDS'))
    expect(off.notes[0]).toContain('AGENTS.md (repositoryInstructions is false)')
  })
})

test('a program that stayed is used for the next turn, but not when the instructions of the repository changed', async () => {
  const workspace = await repository({ 'CLAUDE.md': 'Always say OLD-WORDS.\n' })
  const agentConfig = machine.agent(programs[0]!, 'echo-history')
  const run = async (session?: string) => {
    const { task } = await machine.run({ agentConfig, workspace, ...(session === undefined ? {} : { session }) })
    const body = JSON.stringify(machine.models.requests.at(-1)?.body)
    const waiting = async () => (await machine.daemon.runtime.health()).warm.find((one) => one.session === task.session)
    await until(async () => (await waiting()) !== undefined)
    return { session: task.session, said: [...new Set(body.match(/[A-Z]+-WORDS/g) ?? [])], pid: (await waiting())?.pid }
  }
  const first = await run()
  expect(first).toMatchObject({ said: ['OLD-WORDS'], pid: expect.any(Number) })
  expect(await run(first.session)).toEqual(first)
  await writeFile(join(workspace, 'CLAUDE.md'), 'Always say NEW-WORDS.\n')
  const third = await run(first.session)
  expect(third.said).toEqual(['NEW-WORDS'])
  expect(third.pid).not.toBe(first.pid)
}, 60_000)

test('under strict the real claude is told of no instruction file, and the run says why', async () => {
  const { said, notes } = await turn(programs[0]!, { profile: 'strict' })
  expect(said).toEqual([])
  expect(notes[0]).toContain('Not used: CLAUDE.md (profile strict gives no instruction files)')
})
