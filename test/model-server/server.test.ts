import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, clients, post, type Said, text } from './clients.ts'
import { fingerprint } from './record.ts'
import { type ModelServer, startModelServer } from './server.ts'

const client = clients[0]!
const hello: Said = { user: 'hello' }
const steps = (...texts: string[]) => texts.map((words) => ({ text: words }))

let folder: string
let server: ModelServer
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'model-server-'))
  server = await startModelServer({
    socketPath: join(folder, 'models.sock'),
    logFile: join(folder, 'log.jsonl'),
    scenarios: {
      three: { about: 'Three answers.', steps: steps('one', 'two', 'three') },
      twice: { about: 'Repeats.', steps: [{ text: 'again', repeat: 2 }, { text: 'enough' }] },
      later: { about: 'Two prompts.', steps: steps('first'), laterSteps: steps('later: {{allUsers}}') },
      between: { about: 'Fails in between.', steps: [{ text: 'one' }, { error: { kind: 'server-error' } }, { text: 'two' }] },
      fallback: { about: 'Stalls once.', steps: [{ text: 'never', stall: {} }, { text: 'at last' }] },
    },
  })
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

/** A prompt answered so far by n tool calls. */
const answered = (turns: number): Said[] => [
  hello,
  ...Array.from({ length: turns }, (): Said[] => [{ calledShell: true }, { toolResult: 'ok' }]).flat(),
]
const say = async (scenario: string, history: readonly Said[], key?: string) =>
  (await ask(client, server.base(scenario, key), history, false)).text
const statusOf = async (scenario: string, history: readonly Said[], key?: string) =>
  (await post(client, server.base(scenario, key), history, false)).status

describe('the choice of a step', () => {
  it('follows the assistant turns since the last prompt, whatever was asked before', async () => {
    expect(await say('three', answered(1))).toBe('two')
    expect(await say('three', answered(0))).toBe('one')
    expect(await say('three', answered(2))).toBe('three')
    expect(await say('three', [...answered(2), { user: 'next' }])).toBe('one')
  })

  it('gives a repeated answer for as many turns, and ends with a word of its own', async () => {
    const heard = await Promise.all([0, 1, 2, 3].map((turns) => say('twice', answered(turns))))
    expect(heard).toEqual(['again', 'again', 'enough', 'The script has ended.'])
  })

  it('uses the later steps from the second prompt on', async () => {
    expect(await say('later', [hello])).toBe('first')
    expect(await say('later', [hello, { calledShell: true }, { toolResult: 'ok' }, { user: 'next' }])).toBe('later: hello | next')
  })

  it('plays what a prompt asks for as if the conversation had begun there, and speaks of the whole', async () => {
    expect(await say('as-asked', [hello])).toBe('1 prompts: hello')
    const [, ...turn] = answered(1)
    const asked = [hello, ...turn, { user: 'play three' }]
    expect(await say('as-asked', asked)).toBe('one')
    expect(await say('as-asked', [...asked, ...turn])).toBe('two')
    const later = [...asked, ...turn, { user: 'play later' }]
    expect(await say('as-asked', later)).toBe('first')
    // Only its first words count: a prompt may be quoted by a later one.
    const quoting = [...later, ...turn, { user: 'go on with: play three' }]
    expect(await say('as-asked', quoting)).toBe('later: hello | play three | play later | go on with: play three')
    expect(await statusOf('as-asked', [{ user: 'play nothing-known' }])).toBe(404)
  })

  it('counts failures per key, so that tests in parallel do not disturb each other', async () => {
    expect(await statusOf('rate-limit-recovers', [hello], 'a')).toBe(429)
    expect(await statusOf('rate-limit-recovers', [hello], 'b')).toBe(429)
    expect(await statusOf('rate-limit-recovers', [hello], 'a')).toBe(429)
    expect(await say('rate-limit-recovers', [hello], 'a')).toBe('Recovered.')
    expect(await statusOf('rate-limit-recovers', [hello], 'b')).toBe(429)
  })

  it('fails at the place where the failing step stands', async () => {
    expect(await say('between', answered(0))).toBe('one')
    expect(await statusOf('between', answered(1))).toBe(500)
    expect(await say('between', answered(1))).toBe('two')
  })

  it('answers after a stall that is used up', async () => {
    const leaving = new AbortController()
    await post(client, server.base('fallback'), [hello], true, leaving.signal)
    leaving.abort()
    expect(await say('fallback', [hello])).toBe('at last')
  })

  it('does not take what a program adds by itself for a prompt', async () => {
    const history = [{ user: '<system-reminder>\nBe kind.\n</system-reminder>' }, { user: 'real' }]
    expect(await say('echo-history', history)).toBe('1 prompts: real')
  })

  it('offers no tool call to a request that has no tools', async () => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })
    const response = await fetch(`${server.base('tool')}/v1/messages`, { method: 'POST', body })
    expect(await response.json()).toMatchObject({ content: [{ type: 'text' }], stop_reason: 'end_turn' })
  })

  it('answers a title on the side and uses no step up', async () => {
    const ofTitle = {
      model: 'm',
      messages: [
        { role: 'system', content: 'You are a title generator.' },
        { role: 'user', content: 'x' },
      ],
    }
    const url = `${server.base('rate-limit', 'title')}/v1/chat/completions`
    expect((await fetch(url, { method: 'POST', body: JSON.stringify(ofTitle) })).status).toBe(200)
    expect(server.requestsOf('title').map((it) => it.answer)).toEqual(['title'])
  })
})

describe('a scenario', () => {
  it('that does not exist is answered with the nearest name', async () => {
    const response = await post(client, server.base('rate-limits'), [hello], false)
    expect(response.status).toBe(404)
    expect(text(await response.json(), 'error.message')).toBe('There is no scenario "rate-limits"; did you mean "rate-limit"?')
  })

  it.each([
    ['an unknown field', { steps: [{ text: 'a', txt: 'b' }] }, /txt/],
    ['a misspelt placeholder', { steps: [{ text: '{{lastUsr}}' }] }, /unknown placeholder \{\{lastUsr\}\}/],
    ['a step that does nothing', { steps: [{ repeat: 2 }] }, /answers or refuses/],
    ['an error that also speaks', { steps: [{ text: 'a', error: { kind: 'auth' as const } }] }, /says nothing else/],
  ])('with %s is refused at the start', async (_, broken, message) => {
    await expect(startModelServer({ scenarios: { broken: { about: '', ...broken } } })).rejects.toThrow(message)
  })
})

describe('the record', () => {
  const secret = { 'x-api-key': 'sk-very-secret', authorization: 'Bearer very-secret' }

  it('holds what the model saw, and secrets only as fingerprints', async () => {
    const url = `${server.base('text', 'secret')}/v1/messages?key=very-secret`
    await (await fetch(url, { method: 'POST', headers: secret, body: JSON.stringify(client.body([hello], false)) })).text()
    const [seen] = server.requestsOf('secret')
    expect(seen).toMatchObject({ method: 'POST', scenario: 'text', wire: 'anthropic', answer: 'steps[0]' })
    expect(seen!.body).toMatchObject({ messages: [{ role: 'user', content: 'hello' }] })
    expect(seen!.headers['x-api-key']).toBe(fingerprint('sk-very-secret'))
    expect(JSON.stringify(server.requests)).not.toContain('very-secret')
  })

  it('can be read over HTTP, by key', async () => {
    await say('text', [hello], 'over-http')
    const response = await fetch(`${server.url}/_requests?key=over-http`)
    expect(await response.json()).toEqual(server.requestsOf('over-http'))
    expect(Object.keys((await (await fetch(`${server.url}/_scenarios`)).json()) as object)).toContain('echo-history')
  })

  it('keeps the last ones only', async () => {
    const small = await startModelServer({ maxRequests: 2 })
    for (const key of ['a', 'b', 'c']) await ask(client, small.base('text', key), [hello], false)
    expect(small.requests.map((it) => it.key)).toEqual(['b', 'c'])
    await small.close()
  })

  it('tells a waiting test what came instead', async () => {
    await expect(server.waitFor((it) => it.key === 'never', 10)).rejects.toThrow(/No request matched within 10 ms/)
  })
})

describe('the server', () => {
  it('listens on a unix socket too', async () => {
    const response = await new Promise<number | undefined>((resolve, reject) => {
      const options = { socketPath: join(folder, 'models.sock'), path: '/s/text@socket/v1/models' }
      request(options, (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end()
    })
    expect(response).toBe(200)
  })

  it('closes at once although an answer is stalled, and may be closed again', async () => {
    const short = await startModelServer()
    const response = await post(client, short.base('stall'), [hello], true)
    const rest = expect(response.text()).rejects.toThrow()
    await short.close()
    await short.close()
    await rest
  })

  it('runs as a program that says its address, logs requests, and ends when told to', async () => {
    const log = join(folder, 'program.jsonl')
    const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), '--port', '0', '--log', log])
    const exited = new Promise((resolve) => child.once('exit', resolve))
    try {
      const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next()
      const { url } = JSON.parse(value ?? '')
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
      expect((await ask(client, `${url}/s/text@program`, [hello], true)).text).toBe('Hello from the scripted model.')
      child.kill('SIGTERM')
      expect(await exited).toBe(0)
      expect(JSON.parse(await readFile(log, 'utf8'))).toMatchObject({ key: 'program', answer: 'steps[0]' })
    } finally {
      child.kill('SIGKILL')
    }
  })
})
