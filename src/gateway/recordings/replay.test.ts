import { expect, test } from 'vitest'
import { createRedactor } from '../../redact/redactor.ts'
import { serveRecording } from './model-server.ts'
import { readRecording } from './read.ts'
import { createTape } from './recorder.ts'
import { createReplay, type ReplayOptions } from './replay.ts'

interface Said {
  readonly role: string
  readonly content: string
}
const user = (content: string): Said => ({ role: 'user', content })
const model = (content: string): Said => ({ role: 'assistant', content })
const bodyOf = (messages: readonly Said[], more = {}) => ({ model: 'm', system: 'be kind', messages, ...more })

/** A recording of these requests, each answered with its number. */
function recordingOf(bodies: readonly object[]) {
  let text = ''
  const tape = createTape({
    write: (line) => (text += line),
    redactor: createRedactor(),
    monotonic: () => 0,
    maxBytes: 1_000_000,
    onFull: () => undefined,
  })
  tape.line({ type: 'recording', version: 1, run: 'r', task: 't', at: '', agent: 'a', adapter: 'x' })
  for (const [at, body] of bodies.entries()) {
    const ask = { number: at + 1, method: 'POST', path: '/v1/messages', headers: {}, body: Buffer.from(JSON.stringify(body)) }
    const call = tape.begin(ask)
    call.head(200, { 'content-type': 'application/json' })
    call.chunk(Buffer.from(`{"answer":${at + 1}}`))
    call.end('whole')
  }
  tape.end()
  return readRecording(text, 'it')
}

function replaying(bodies: readonly object[], options: Partial<ReplayOptions> = {}) {
  const told: string[] = []
  const replay = createReplay({
    recording: recordingOf(bodies),
    places: [],
    redactor: createRedactor(),
    onDivergence: (_, sentence) => told.push(sentence),
    ...options,
  })
  const ask = async (body: object) => {
    const asked = { number: 1, method: 'POST', path: '/v1/messages', headers: {}, body: Buffer.from(JSON.stringify(body)) }
    const answer = await replay.answer(asked)
    if (answer === 'live') return answer
    const chunks: Uint8Array[] = []
    for await (const chunk of answer.chunks) chunks.push(chunk)
    return (JSON.parse(Buffer.concat(chunks).toString()) as { answer: number }).answer
  }
  return { replay, ask, told }
}

const first = [user('hello')]
const second = [...first, model('hi'), user('go on')]
const third = [...second, model('done'), user('thanks')]

test('requests of conversations side by side are answered in whatever order they come', async () => {
  const aside = [user('a title, please')]
  const { replay, ask } = replaying([bodyOf(first), bodyOf(aside), bodyOf(second)])
  expect(await ask(bodyOf(first))).toBe(1)
  expect(await ask(bodyOf(second))).toBe(3)
  expect(replay.missing()).toEqual([2])
  expect(await ask(bodyOf(aside))).toBe(2)
  expect(replay.missing()).toEqual([])
  expect(replay.counts).toEqual({ replayed: 3, live: 0 })
})

test('a program that has lost the last answer gets it again, and no other call is answered twice', async () => {
  const { replay, ask, told } = replaying([bodyOf(first), bodyOf(second)])
  expect([await ask(bodyOf(first)), await ask(bodyOf(first)), await ask(bodyOf(second))]).toEqual([1, 1, 2])
  expect(replay.missing()).toEqual([])
  await expect(ask(bodyOf(first))).rejects.toThrow()
  expect(told).toHaveLength(1)
})

test('what is different in every run does not count', async () => {
  const said = (id: string, at: string, took: string, where: string) =>
    bodyOf([user(`${id} on ${at}, ${took} in ${where}/src, commit ${id.slice(0, 7)}`)], { metadata: { who: id } })
  const { ask } = replaying([said('1f0c2a3b-0000-4000-8000-00000000000a', '2026-11-15', '12 ms', '/work/one')], {
    places: [
      { path: '/work/one', as: 'workspace' },
      { path: '/elsewhere', as: 'workspace' },
    ],
  })
  expect(await ask(said('9e8d7c6b-1111-4111-9111-11111111111b', '2027-01-02', '3.5 ms', '/elsewhere'))).toBe(1)
})

test('the first request that is another one is told with its number, its place and both texts, and is refused', async () => {
  const { replay, ask, told } = replaying([bodyOf(first), bodyOf(second), bodyOf(third)])
  await ask(bodyOf(first))
  const strayed = bodyOf([...first, model('hi'), user('go away')])
  await expect(ask(strayed)).rejects.toThrow('The run left the recording at call 2 (POST /v1/messages): messages[2].content')
  expect(replay.divergence).toMatchObject({ call: 2, at: 'messages[2].content', recorded: 'go on', asked: 'go away' })
  await expect(ask(strayed)).rejects.toThrow()
  expect(told).toHaveLength(1)
})

test('a request of a kind that was never recorded is told as such', async () => {
  const { replay } = replaying([bodyOf(first)])
  const ask = { number: 1, method: 'POST', path: '/v1/responses', headers: {}, body: Buffer.from('{}') }
  await expect(replay.answer(ask)).rejects.toThrow('POST /v1/responses, which no call of the recording that is left asks for')
})

test('after the last call that is to be replayed everything is asked of the provider', async () => {
  const { replay, ask } = replaying([bodyOf(first), bodyOf(second), bodyOf(third)], { until: 1 })
  expect(await ask(bodyOf(first))).toBe(1)
  expect(await ask(bodyOf(second))).toBe('live')
  expect(await ask(bodyOf([...second, model('something new'), user('and then')]))).toBe('live')
  expect(replay.counts).toEqual({ replayed: 1, live: 2 })
  expect(replay.divergence).toBeUndefined()
})

test('but not before: what strays from the part that is to be replayed costs nothing', async () => {
  const { ask } = replaying([bodyOf(first), bodyOf(second)], { until: 2 })
  await expect(ask(bodyOf([user('something else')]))).rejects.toThrow('call 1')
})

test('another model may be told other things about itself, but what was said before it must be the same', async () => {
  const { ask } = replaying([bodyOf(first), bodyOf(second)], { until: 2, anyModel: true })
  const other = { model: 'other', system: 'you are another', max_tokens: 7 }
  expect(await ask(bodyOf([user('hello, I am other')], other))).toBe(1)
  await expect(ask(bodyOf([...first, model('hi'), user('go away')], other))).rejects.toThrow('call 2')
})

test('a secret that was hidden in the recording is hidden in what is asked, and matches', async () => {
  const token = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'
  const { ask } = replaying([bodyOf([user(`it is ${token}`)])])
  expect(await ask(bodyOf([user(`it is ${token}`)]))).toBe(1)
})

test('a recording serves as a model: the same request is answered each time, another one is refused with the reason', async () => {
  const told: unknown[] = []
  const server = await serveRecording(recordingOf([bodyOf(first)]), { port: 0, onCall: (call) => told.push(call) })
  const ask = (path: string, body: object) => fetch(`${server.url}${path}`, { method: 'POST', body: JSON.stringify(body) })
  try {
    for (const path of ['/v1/messages', '/v1/messages', '/model/v1/messages', '/api/llm-proxy/s/any/v1/messages'])
      expect(await (await ask(path, bodyOf(first))).json()).toEqual({ answer: 1 })
    const refused = await ask('/v1/messages', bodyOf([user('bye')]))
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('messages[0].content')
    expect(told).toEqual([...Array(4).fill({ call: 1 }), { left: expect.stringContaining('call 1') }])
    expect(new URL(server.url).hostname).toBe('127.0.0.1')
  } finally {
    await server.close()
  }
})
