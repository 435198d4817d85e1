import { appendFile, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { adapterContract, converse, makePlace, type Step, scripted } from '../../../test/contracts/adapter.ts'
import { launch, type Place } from '../../../test/contracts/launch.ts'
import type { Utterance } from '../../domain/event/transcript.ts'
import { demo } from './agent.ts'
import { sessionFiles } from './session-files.ts'

const at = '2026-01-01T00:00:00.000Z'

const answers = (text: string) => `${JSON.stringify({ type: 'result', text, isError: false })}\n`

adapterContract(demo, {
  options: { ask: true },
  says: (text) => `${JSON.stringify({ type: 'text', text })}\n`,
  answers,
})

test('it asks its question through the door, ends, and finishes with the answer when resumed', async () => {
  const place = await makePlace()
  await writeFile(join(place.workspace, 'big.txt'), 'x'.repeat(1000))
  await writeFile(join(place.workspace, 'small.md'), 'y')
  const door = await openDoor()

  const first = await run(place, { prompt: 'look around', env: door.env })
  expect(first.verdict).toMatchObject({ outcome: 'blocked', vendorSession: expect.stringMatching(/^demo-/) })
  expect(door.asked).toEqual([
    {
      token: 'Bearer secret',
      body: { text: expect.stringContaining('put first'), options: ['the kinds of files', 'the largest files'] },
    },
  ])
  expect(first.events.map((event) => event.type)).toEqual([
    'agent.session',
    'agent.tool_called',
    'agent.tool_returned',
    'agent.message',
  ])
  expect(await readdir(place.workspace)).toEqual(['big.txt', 'small.md'])

  const resume = first.verdict.vendorSession
  const second = await run(place, { prompt: 'the largest files', env: door.env, resume })
  expect(second.verdict).toMatchObject({ outcome: 'succeeded', vendorSession: resume, costUsd: 0 })
  expect(second.verdict.text).toContain('You asked: look around')
  expect(second.verdict.text).toContain('Your answer was: the largest files')
  expect(door.asked).toHaveLength(1)
  const report = await readFile(join(place.workspace, 'pawl-demo.md'), 'utf8')
  expect(report).toContain('2 files of 2 kinds, 1001 bytes')
  expect(report.indexOf('## Largest files')).toBeLessThan(report.indexOf('## Kinds of files'))
})

test('it does the work again when a crash brings the same prompt back instead of an answer', async () => {
  const place = await makePlace()
  const door = await openDoor()
  const first = await run(place, { prompt: 'look around', env: door.env })
  const again = await run(place, { prompt: 'look around', env: door.env, resume: first.verdict.vendorSession })
  expect(again.verdict.outcome).toBe('blocked')
  expect(door.asked).toHaveLength(2)
})

test('it does the work again, and asks again, when it is told that its run was cut short', async () => {
  const place = await makePlace()
  const door = await openDoor()
  const first = await run(place, { prompt: 'look around', env: door.env })
  const resume = first.verdict.vendorSession
  const again = await run(place, { prompt: 'It was cut short. The task was:\n\nlook around', env: door.env, resume })
  expect(again.verdict.outcome).toBe('blocked')
  const last = await run(place, { prompt: 'the largest files', env: door.env, resume })
  expect(last.verdict.text).toContain('You asked: look around\n')
})

test('it hears an answer again that a crash brings back, and asks no second time', async () => {
  const place = await makePlace()
  const door = await openDoor()
  const first = await run(place, { prompt: 'look around', env: door.env })
  const resume = first.verdict.vendorSession
  await run(place, { prompt: 'the largest files', env: door.env, resume })
  const again = await run(place, { prompt: 'the largest files', env: door.env, resume })
  expect(again.verdict.text).toContain('You asked: look around\n')
  expect(again.verdict.text).toContain('Your answer was: the largest files')
  expect(door.asked).toHaveLength(1)
  const next = await run(place, { prompt: 'look once more', env: door.env, resume })
  expect(next.verdict.outcome).toBe('blocked')
})

test('it takes the answer to a question of which it never heard whether it was kept', async () => {
  const place = await makePlace()
  const broken = createServer((request) => request.resume().on('end', () => request.socket.destroy()))
  await new Promise<void>((resolve) => broken.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void broken.close())
  const env = { PAWL_DOOR_URL: `http://127.0.0.1:${(broken.address() as AddressInfo).port}`, PAWL_DOOR_TOKEN: 'secret' }
  const first = await run(place, { prompt: 'look around', env })
  expect(first.verdict.text).toContain('I asked nothing')
  const door = await openDoor()
  const resume = first.verdict.vendorSession
  const second = await run(place, { prompt: 'the largest files', env: door.env, resume })
  expect(second.verdict.text).toContain('You asked: look around\n')
  expect(second.verdict.text).toContain('Your answer was: the largest files')
  expect(door.asked).toEqual([])
  await run(place, { prompt: 'look once more', env: door.env, resume })
  expect(door.asked).toHaveLength(1)
})

test('it takes a choice for an answer, though it was asked in the same words', async () => {
  const place = await makePlace()
  const door = await openDoor()
  const first = await run(place, { prompt: 'the largest files', env: door.env })
  const second = await run(place, { prompt: 'the largest files', env: door.env, resume: first.verdict.vendorSession })
  expect(second.verdict.text).toContain('Your answer was: the largest files')
  expect(door.asked).toHaveLength(1)
})

test('its session file only grows, and a line that was cut short spoils no other', async () => {
  const place = await makePlace()
  const door = await openDoor()
  const first = await run(place, { prompt: 'look around', env: door.env })
  const resume = first.verdict.vendorSession!
  const file = join(place.home, sessionFiles.layouts(resume)[0]!)
  const asked = await readFile(file, 'utf8')
  await appendFile(file, '\n{"id":"demo-')
  const second = await run(place, { prompt: 'the kinds of files', env: door.env, resume })
  expect(second.verdict.text).toContain('Your answer was: the kinds of files')
  expect((await readFile(file, 'utf8')).startsWith(`${asked}\n{"id":"demo-\n{`)).toBe(true)
})

test.each([
  ['asked', [], 'the largest files'],
  ['heard the answer', [{ kind: 'user', text: 'the largest files', at }], 'the largest files'],
] as const)('a conversation that was rebuilt after it had %s goes on with the answer', async (_, more, prompt) => {
  const place = await makePlace()
  const door = await openDoor()
  await run(place, { prompt: 'look around', env: door.env })
  const { text, options } = z.object({ text: z.string(), options: z.array(z.string()) }).parse(door.asked[0]?.body)
  const transcript: Utterance[] = [
    { kind: 'user', text: 'look around', at },
    { kind: 'tool', callId: 'call-1', tool: 'list_files', input: {}, output: '0 files', isError: false, at },
    { kind: 'agent', text: [text, ...options.map((option) => `- ${option}`)].join('\n'), at },
    ...more,
  ]
  const vendorId = 'demo-0123456789abcdef'
  const made = sessionFiles.rebuild!(transcript, { vendorId, workspace: place.workspace })
  await writeFile(join(place.home, made.path), made.content)
  expect(sessionFiles.layouts(vendorId)).toEqual([made.path])
  const { verdict } = await run(place, { prompt, env: door.env, resume: vendorId })
  expect(verdict).toMatchObject({ outcome: 'succeeded', text: expect.stringContaining('You asked: look around\n') })
  expect(verdict.text).toContain('Your answer was: the largest files')
  expect(door.asked).toHaveLength(1)
})

test.each([
  ['the prompt says --no-question', { prompt: 'look around --no-question' }],
  ['the option ask is false', { prompt: 'look around', ask: false }],
])('it does not ask if %s', async (_, given) => {
  const door = await openDoor()
  const { verdict } = await run(await makePlace(), { ...given, env: door.env })
  expect(verdict).toMatchObject({ outcome: 'succeeded', text: expect.not.stringContaining('asked nothing') })
  expect(door.asked).toEqual([])
})

test('without a door, or at one that refuses, it finishes and says that it did not ask', async () => {
  const alone = await run(await makePlace(), { prompt: 'look around' })
  expect(alone.verdict).toMatchObject({ outcome: 'succeeded', text: expect.stringContaining('no door') })
  const door = await openDoor(403)
  const refused = await run(await makePlace(), { prompt: 'look around', env: door.env })
  expect(refused.verdict).toMatchObject({ outcome: 'succeeded', text: expect.stringContaining('the door answered 403') })
  expect(refused.events).toContainEqual({
    type: 'agent.message',
    data: { text: 'I did not ask my question: the door answered 403.' },
  })
})

test('a session whose file is gone fails as such, and a strange session id is refused', async () => {
  const place = await makePlace()
  const gone = await run(place, { prompt: 'yes', resume: 'demo-0123456789abcdef' })
  expect(gone.verdict).toMatchObject({ outcome: 'failed', category: 'session_missing' })
  const options = demo.options.parse({})
  const spec = { options, prompt: 'yes', ...place, extraArgs: [] }
  expect(() => demo.command({ ...spec, resume: '../../etc/passwd' })).toThrow(/not a session/)
  expect(() => demo.command({ ...spec, model: 'large' })).toThrow(/takes no model/)
})

test('it replaces a link in the place of its report instead of writing through it', async () => {
  const place = await makePlace()
  const target = join(place.home, 'precious')
  await writeFile(target, 'precious')
  await symlink(target, join(place.workspace, 'pawl-demo.md'))
  const { verdict } = await run(place, { prompt: 'look around' })
  expect(verdict.outcome).toBe('succeeded')
  expect(await readFile(target, 'utf8')).toBe('precious')
})

test.each([
  ['a result that reports an error, with exit code 0', [{ write: answers('no').replace('false', 'true') }], 'exit_code'],
  ['an end without a result', [{ write: '{"type":"text","text":"hm"}\n' }], 'crashed'],
  ['a result that breaks off', [{ write: '{"type":"result","te' }], 'protocol_error'],
] as const)('%s is a failure', async (_, steps, category) => {
  expect((await play([...steps])).verdict).toMatchObject({ outcome: 'failed', category })
})

test('a tool input that cannot be stored as it is does no harm', async () => {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
  const inputs = [deep, '{"a":"\\u0000"}', '{"__proto__":{"x":1}}']
  const lines = inputs.map((input, id) => `{"type":"tool","id":"${id}","name":"t","input":${input}}\n`)
  const { events } = await play([{ write: lines.join('') }, { write: answers('fine') }])
  const stored = events.map((event) => (event.type === 'agent.tool_called' ? event.data.input : event.type))
  expect(stored).toEqual([
    'left out: nested too deeply, or too many values',
    '{"a":"\\u0000"}',
    JSON.parse('{"__proto__":{"x":1}}'),
  ])
})

async function run(
  place: Place,
  given: { prompt: string; ask?: boolean; env?: Record<string, string>; resume?: string | undefined },
) {
  const options = demo.options.parse({ ask: given.ask })
  const spec = { options, prompt: given.prompt, ...place, resume: given.resume, extraArgs: [] }
  const child = await launch(demo.command(spec), place, given.env)
  onTestFinished(async () => void (await child.stop({ graceMs: 0 })))
  return converse(demo, child, spec, { prompt: given.prompt })
}

async function play(steps: Step[]) {
  const place = await makePlace()
  const spec = { options: demo.options.parse({}), prompt: '', ...place, extraArgs: [] }
  const child = await launch(scripted(steps, place), place)
  onTestFinished(async () => void (await child.stop({ graceMs: 0 })))
  return converse(demo, child, spec)
}

async function openDoor(status = 202) {
  const asked: { token: string | undefined; body: unknown }[] = []
  const server = createServer(async (request, response) => {
    const body = await json(request)
    if (request.url === '/v1/questions' && status === 202) {
      asked.push({ token: request.headers.authorization, body })
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"id":"q_0123456789abcdefgh"}')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => new Promise<void>((done) => server.close(() => done())))
  const { port } = server.address() as AddressInfo
  return { asked, env: { PAWL_DOOR_URL: `http://127.0.0.1:${port}`, PAWL_DOOR_TOKEN: 'secret' } }
}
