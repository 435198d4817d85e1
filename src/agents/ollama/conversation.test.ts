import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { until } from '../../../test/engine/until.ts'
import { fingerprint } from '../../../test/model-server/record.ts'
import type { ScenarioInput } from '../../../test/model-server/scenario.ts'
import { startModelServer } from '../../../test/model-server/server.ts'
import { talk } from '../../../test/real-agents/ollama-talk.ts'
import { toolAccess } from '../../domain/profile/access.ts'
import type { Permission, Verdict } from '../port.ts'
import { ownTools } from './own-tools.ts'
import { sessionFiles } from './session-files.ts'

const shell = (command: string) => ({ tool: 'named:bash', args: { command } })
const scenarios: Record<string, ScenarioInput> = {
  both: {
    about: 'Writes and looks, all at once.',
    steps: [
      {
        text: 'Doing all.',
        toolCalls: [
          { tool: 'named:write', args: { path: 'a.txt', content: 'one\n' } },
          { tool: 'named:read', args: { path: 'a.txt' } },
          { tool: 'named:list', args: {} },
          { tool: 'named:fly', args: {} },
        ],
      },
      { text: 'They said: {{toolResults}}' },
    ],
  },
  deleting: {
    about: 'Deletes, then tells what came of it.',
    steps: [{ text: 'Deleting.', toolCall: shell('rm a.txt') }, { text: 'Tool said: {{toolResult}}' }],
    laterSteps: [{ text: '{{lastUser}} after {{toolResult}}' }],
  },
  greedy: {
    about: 'Reads a large file for each prompt, then tells all of them.',
    steps: [{ text: 'Reading.', toolCall: shell('cat big.txt') }, { text: 'I was asked: {{allUsers}}' }],
  },
  tight: {
    about: 'Has less room than it says.',
    steps: [{ text: 'Reading.', toolCall: shell('cat big.txt') }, { text: 'Read.' }],
    laterSteps: [{ error: { kind: 'context-overflow' } }, { text: 'It fits now.' }],
  },
  seeing: {
    about: 'Looks at an image.',
    steps: [
      { toolCall: { tool: 'named:read', args: { path: 'dot.png' } } },
      { text: '{{imageCount}}: {{images}} {{toolResult}}' },
    ],
  },
  formless: {
    about: 'Answers in words first.',
    steps: [{ text: 'It is forty-two.' }, { text: '{"answer":42}' }],
  },
}

const server = await startModelServer({ scenarios })
afterAll(() => server.close())
let keys = 0
const at = (scenario: string) => {
  const key = `c${++keys}`
  const chats = () => server.requestsOf(key).filter(({ path }) => path.endsWith('/api/chat'))
  const bodies = () => chats().map(({ body }) => body as Record<string, unknown>)
  return { endpoint: server.base(scenario, key), chats, bodies, last: () => JSON.stringify(bodies().at(-1)) }
}

test('it thinks, answers, and takes another prompt in the same process and conversation', async () => {
  const { say, of } = await talk(at('thinking').endpoint)
  expect(await say('first')).toMatchObject({
    outcome: 'succeeded',
    text: 'Thought through: first',
    mayGoOn: true,
    costUsd: 0,
    usage: { inputTokens: 120, outputTokens: 15, turns: 1 },
  })
  expect(of('agent.thinking')).toEqual([{ text: 'Let me think about it.' }])
  expect(of('agent.message')).toEqual([{ text: 'Thought through: first' }])
  expect(await say('second')).toMatchObject({ text: expect.stringContaining('I had thought'), usage: { turns: 1 } })
  expect(of('agent.session')).toHaveLength(1)
})

test('it does several calls of one answer in their order, and a failing one is told to the model', async () => {
  const { say, of, place } = await talk(at('both').endpoint)
  const { text } = await say('go')
  expect(text).toContain('a.txt written, 4 bytes.')
  expect(text).toContain('1\tone')
  expect(text).toContain('There is no tool "fly". There are: read, write, edit, list, grep, bash.')
  expect(readFileSync(join(place.workspace, 'a.txt'), 'utf8')).toBe('one\n')
  expect(of('agent.tool_returned').map(({ isError }) => isError)).toEqual([false, false, false, true])
  expect(of('agent.tool_called').map(({ tool }) => tool)).toEqual(['write', 'read', 'list', 'fly'])
})

describe('a call', () => {
  const no: Permission = { allow: false, message: 'Rule deny Bash(rm:*) forbids it.' }

  test('that a rule forbids is told to the model, which goes on', async () => {
    const { say, asked, place } = await talk(at('deleting').endpoint, {}, () => no)
    await writeFile(join(place.workspace, 'a.txt'), '')
    expect(await say('go')).toMatchObject({
      outcome: 'succeeded',
      text: expect.stringContaining('Rule deny Bash(rm:*) forbids it.'),
    })
    expect(asked).toEqual([{ tool: 'bash', input: { command: 'rm a.txt' } }])
    expect(existsSync(join(place.workspace, 'a.txt'))).toBe(true)
  })

  test('that a person is asked about ends the turn, and the answer comes with the next', async () => {
    const { say } = await talk(at('deleting').endpoint, {}, () => ({ ...no, asked: true }))
    expect(await say('go')).toMatchObject({ outcome: 'blocked', mayGoOn: true, text: 'Deleting.' })
    expect((await say('You may.')).text).toContain('You may. after')
  })

  test('that the task does not have is refused without asking anybody, and free ones need no permission', async () => {
    const profile = {
      rules: { allow: [], ask: [], deny: [] },
      otherwise: 'allow' as const,
      tools: { native: true, disabled: ['write'] },
      skills: [],
      subagents: [],
    }
    const access = toolAccess(profile, ownTools)
    const server = at('deleting')
    const { say, asked } = await talk(server.endpoint, { toolAccess: access, disallowedTools: ['Bash(rm:*)'] })
    expect((await say('go')).text).toContain('not allowed to use Bash(rm:*)')
    expect(asked).toEqual([])
    const offered = (server.bodies()[0]!.tools as { function: { name: string } }[]).map((tool) => tool.function.name)
    expect(offered).toEqual(['read', 'edit', 'list', 'grep', 'bash'])
  })
})

test('it stops when it was asked as often as is allowed', async () => {
  const server = at('loop')
  const { say } = await talk(server.endpoint, { maxTurns: 3 })
  expect(await say('go')).toMatchObject({ outcome: 'failed', category: 'max_turns', text: expect.stringContaining('Again.') })
  expect(server.chats()).toHaveLength(3)
})

test('it is interrupted in the middle of an answer, and can go on', async () => {
  const server = at('stall-mid-stream')
  const { say } = await talk(server.endpoint)
  for (const prompt of ['go', 'once more']) {
    const stop = new AbortController()
    const asked = server.chats().length
    const over = say(prompt, stop.signal)
    await until(() => server.chats().length > asked)
    stop.abort()
    expect(await over).toMatchObject({ outcome: expect.stringMatching(/partial|empty/), mayGoOn: true })
  }
  expect(server.last()).toContain('once more')
})

test('it is interrupted in the middle of a tool, keeps what was said, and can go on', async () => {
  const { say, place } = await talk(at('long-tool').endpoint)
  const stop = new AbortController()
  const over = say('go', stop.signal)
  await until(() => existsSync(join(place.workspace, 'long-tool-alive.txt')))
  stop.abort()
  expect(await over).toMatchObject({ outcome: 'partial', mayGoOn: true, text: 'This takes long.' })
  expect((await say('go on')).text).toContain('Last tool result: Error: Interrupted')
})

test('it goes on after it was killed in the middle of a tool, and the model is told that nobody knows how that ended', async () => {
  const server = at('long-tool')
  const first = await talk(server.endpoint)
  const over = first.say('go')
  await until(() => existsSync(join(first.place.workspace, 'long-tool-alive.txt')))
  await first.kill()
  const { vendorSession, ...verdict } = await over
  expect(verdict).toMatchObject({ outcome: 'failed', category: 'crashed', text: 'This takes long.' })
  const second = await talk(server.endpoint, { place: first.place, resume: vendorSession })
  expect((await second.say('go on')).text).toContain('Last tool result: Interrupted')
  const file = readFileSync(join(first.place.home, sessionFiles.layouts(vendorSession!)[0]!), 'utf8')
  expect(file.trim().split('\n')).toHaveLength(5)
})

test('a conversation whose file is gone is missing, and is not begun anew', async () => {
  const { say } = await talk(at('text').endpoint, { resume: '00000000-0000-4000-8000-000000000000' })
  expect(await say('go')).toMatchObject({ outcome: 'failed', category: 'session_missing' })
})

describe('the window of the model', () => {
  const big = 'lorem ipsum '.repeat(400)

  test('is never overflowed: old outputs are shortened and old answers left out, and that is told', async () => {
    const server = at('greedy')
    const { say, of, place } = await talk(server.endpoint, { model: 'scripted-small' })
    await writeFile(join(place.workspace, 'big.txt'), big)
    const said: Verdict[] = []
    for (const prompt of ['Remember me.', `Forget me. ${'a '.repeat(500)}`, ...Array(5).fill('And on.')])
      said.push(await say(prompt))
    expect(said.map(({ outcome }) => outcome)).toEqual(Array(7).fill('succeeded'))
    expect(said.at(-1)?.text).toMatch(/^I was asked: Remember me\. \|.*And on\.$/)
    expect(said.at(-1)?.text).not.toContain('Forget me.')
    expect(of('agent.compacted').length).toBeGreaterThan(0)
    for (const body of server.bodies()) {
      expect(JSON.stringify([body.messages, body.tools]).length / 4).toBeLessThan(4_096)
      expect(body).toMatchObject({ options: { num_ctx: 4_096 }, truncate: false, shift: false })
    }
    expect(server.last()).toContain('older messages are left out')
  })

  test('that is smaller than its server says is found out: less is sent, and it goes on', async () => {
    const server = at('tight')
    const { say, place } = await talk(server.endpoint, { model: 'scripted-tuned' })
    await writeFile(join(place.workspace, 'big.txt'), big)
    await say('go')
    expect(await say('go on')).toMatchObject({ outcome: 'succeeded', text: 'It fits now.' })
    const [before = 0, after] = server
      .bodies()
      .slice(-2)
      .map((body) => JSON.stringify(body).length)
    expect(after).toBeLessThan(before)
    expect(server.bodies()[0]).toMatchObject({ options: { num_ctx: 8_192 } })
  })

  test('that the prompt alone does not fit is told before anything is asked', async () => {
    const server = at('text')
    const { say } = await talk(server.endpoint, { model: 'scripted-small' })
    expect(await say('word '.repeat(5_000))).toMatchObject({
      category: 'context_overflow',
      message: expect.stringMatching(/about \d+ tokens.*window of 4096.*contextTokens/s),
    })
    expect(server.chats()).toEqual([])
  })

  test('is what the options say, and never more than the model can', async () => {
    const server = at('text')
    const options = { contextTokens: 100_000, parameters: { temperature: 0.2 }, think: 'low' }
    await (await talk(server.endpoint, { options })).say('go')
    expect(server.bodies()[0]).toMatchObject({ options: { num_ctx: 100_000, temperature: 0.2 }, think: 'low' })
  })
})

describe('an image', () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  test.each([
    ['is shown to a model that can see', 'scripted-seeing', `1: ${fingerprint(png.toString('base64'))}`],
    ['is not shown to one that cannot, which is told so', 'scripted-model', 'this model cannot see images'],
  ])('%s', async (_, model, said) => {
    const { say, place } = await talk(at('seeing').endpoint, { model })
    await writeFile(join(place.workspace, 'dot.png'), png)
    expect((await say('look')).text).toContain(said)
  })
})

test('a model that cannot use tools works without them, and says so', async () => {
  const server = at('tool')
  const { say, of } = await talk(server.endpoint, { model: 'scripted-toolless' })
  expect(await say('go')).toMatchObject({ outcome: 'succeeded' })
  expect(of('agent.stderr')).toEqual([{ text: expect.stringContaining('scripted-toolless cannot use tools') }])
  expect(server.bodies()[0]).not.toHaveProperty('tools')
})

test('an answer that is not in the form that was asked for is asked for once more, in that form and without tools', async () => {
  const server = at('formless')
  const outputSchema = { type: 'object', properties: { answer: { type: 'number' } } }
  const { say } = await talk(server.endpoint, { outputSchema })
  expect((await say('go')).text).toBe('{"answer":42}')
  expect(server.bodies()[1]).toMatchObject({ format: outputSchema })
  expect(server.bodies()[1]).not.toHaveProperty('tools')
})
