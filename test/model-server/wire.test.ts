import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, at, clients, count, events, list, post, text } from './clients.ts'
import { type ModelServer, startModelServer } from './server.ts'

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer({
    scenarios: { quick: { about: 'Slow enough to be seen.', steps: [{ text: 'a b c d e f', slow: { msPerChunk: 20 } }] } },
  })
})
afterAll(() => server.close())

const hello = { user: 'hello' }
const tokens = { input: 120, output: 15 }

describe.each(clients)('the $name format', (client) => {
  describe.each([
    ['streamed', true],
    ['in one piece', false],
  ])('%s', (_, stream) => {
    it('gives the text and the usage of a step', async () => {
      const heard = await ask(client, server.base('text'), [hello], stream)
      expect(heard).toEqual({ text: 'Hello from the scripted model.', tokens })
    })

    it('calls the shell by the name the request offers, then goes on with its result', async () => {
      const base = server.base('tool')
      expect(await ask(client, base, [hello], stream)).toEqual({ text: 'Running a command.', call: client.shell, tokens })
      const history = [hello, { calledShell: true }, { toolResult: 'scripted-tool' }] as const
      expect(await ask(client, base, history, stream)).toEqual({ text: 'Done. Tool said: scripted-tool', tokens })
    })

    it('answers in JSON when the step does', async () => {
      const heard = await ask(client, server.base('structured'), [hello], stream)
      expect(JSON.parse(heard.text)).toEqual({ answer: 42, reason: 'scripted' })
    })

    it('breaks JSON in the middle when the step is malformed', async () => {
      const response = await post(client, server.base('malformed'), [hello], stream)
      const body = await response.text()
      expect(() => (stream ? events(body) : JSON.parse(body))).toThrow(SyntaxError)
    })

    it('cuts the connection before the end', async () => {
      const response = await post(client, server.base('cut'), [hello], stream)
      expect(response.status).toBe(200)
      await expect(response.text()).rejects.toThrow(/terminated/)
    })

    it('sends headers and then nothing when the step stalls', async () => {
      const key = `${client.name}-${stream}`
      const leaving = new AbortController()
      const response = await post(client, server.base('stall', key), [hello], stream, leaving.signal)
      expect(response.status).toBe(200)
      const first = response.body!.getReader().read()
      expect(await Promise.race([first, new Promise((resolve) => setTimeout(resolve, 50, 'silence'))])).toBe('silence')
      leaving.abort()
      await expect(first).rejects.toThrow()
      await server.waitFor((request) => request.key === key && request.isUnfinished === true)
    })
  })

  it('streams in several writes, slowly when the step is slow', async () => {
    const startedAt = performance.now()
    const response = await post(client, server.base('quick'), [hello], true)
    const arrivals: number[] = []
    for await (const _ of response.body!) arrivals.push(performance.now() - startedAt)
    expect(arrivals.length).toBeGreaterThan(3)
    expect(arrivals.at(-1)! - arrivals[0]!).toBeGreaterThan(80)
  })

  it.each(Object.entries(statuses(client.name)))('refuses with the status of %s', async (scenario, status) => {
    const response = await post(client, server.base(scenario), [hello], true)
    expect(response.status).toBe(status)
    expect(text(await response.json(), client.errorPath)).not.toBe('')
  })

  it('says when to come back', async () => {
    const response = await post(client, server.base('rate-limit'), [hello], true)
    expect(response.headers.get('retry-after')).toBe('1')
  })

  it('refuses inside the stream when the step wants it there', async () => {
    const response = await post(client, server.base('overloaded-in-stream'), [hello], true)
    expect(response.status).toBe(200)
    const [first] = events(await response.text())
    expect(text(at(first, 'response') ?? first, client.errorPath)).toMatch(/overloaded|busy/i)
  })
})

/** What each provider answers; OpenAI has no 529 and says a lack of credit with 429. */
function statuses(format: string): Record<string, number> {
  const anthropic = format === 'anthropic'
  return {
    'rate-limit': 429,
    'limit-with-reset': 429,
    auth: 401,
    forbidden: 403,
    'not-found': 404,
    'context-overflow': 400,
    credit: anthropic ? 400 : format === 'ollama' ? 402 : 429,
    'server-error': 500,
    overloaded: anthropic ? 529 : 503,
  }
}

describe('a used-up plan', () => {
  const inTwoHours = () => Date.now() / 1000 + 7200
  const refusal = async (name: string) => {
    const response = await post(clients.find((it) => it.name === name)!, server.base('limit-with-reset'), [hello], true)
    return { headers: response.headers, error: at(await response.json(), 'error') }
  }

  it('is told to Claude Code by the unified headers', async () => {
    const { headers, error } = await refusal('anthropic')
    expect(at(error, 'type')).toBe('rate_limit_error')
    expect(headers.get('anthropic-ratelimit-unified-status')).toBe('rejected')
    expect(headers.get('anthropic-ratelimit-unified-representative-claim')).toBe('five_hour')
    expect(Math.abs(Number(headers.get('anthropic-ratelimit-unified-reset')) - inTwoHours())).toBeLessThan(5)
  })

  it('is told to Codex by the error and the window headers', async () => {
    const { headers, error } = await refusal('openai-responses')
    expect(at(error, 'type')).toBe('usage_limit_reached')
    expect(Math.abs(count(error, 'resets_at') - inTwoHours())).toBeLessThan(5)
    expect(headers.get('x-codex-primary-reset-at')).toBe(String(at(error, 'resets_at')))
  })

  it('is told to Gemini CLI by a retry delay', async () => {
    const { error } = await refusal('gemini')
    expect(at(error, 'details.0.retryDelay')).toBe('7200s')
  })
})

describe('what programs ask beside the conversation', () => {
  const get = async (path: string, init?: RequestInit) => {
    const response = await fetch(server.base('text', 'aside') + path, init)
    return { status: response.status, text: await response.text() }
  }
  const json = async (path: string, body?: unknown) =>
    JSON.parse((await get(path, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) })).text)

  it('greets, counts tokens and lists models', async () => {
    expect(await get('/api/hello', { method: 'HEAD' })).toEqual({ status: 200, text: '' })
    expect((await json('/v1/messages/count_tokens', { messages: [] })).input_tokens).toBeGreaterThan(0)
    expect((await json('/v1beta/models/m:countTokens', { contents: [] })).totalTokens).toBeGreaterThan(0)
    expect((await json('/v1/models')).data[0].id).toBe('scripted-model')
    expect((await json('/v1beta/models')).models[0].name).toBe('models/scripted-model')
    expect((await json('/api/version')).version).toMatch(/^\d/)
  })

  it('tells what an Ollama model can, and of one that is not there as Ollama does', async () => {
    const base = server.base('text', 'ollama-show')
    const ask = async (path: string, model: string) => {
      const answer = await fetch(`${base}${path}`, { method: 'POST', body: JSON.stringify({ model }) })
      return [answer.status, await answer.text()] as const
    }
    expect(await ask('/api/show', 'scripted-seeing')).toEqual([200, expect.stringContaining('"vision"')])
    expect(await ask('/api/show', 'llama3.2')).toEqual([404, `{"error":"model 'llama3.2' not found"}`])
    expect(await ask('/api/pull', 'nowhere/x')).toEqual([200, expect.stringContaining('file does not exist')])
    expect(await ask('/api/pull', 'llama3.2')).toEqual([200, expect.stringMatching(/"completed":500000000.*"success"/s)])
    expect(await ask('/api/show', 'llama3.2:latest')).toEqual([200, expect.stringContaining('scripted.context_length')])
  })

  it('lists an Ollama model after it was pulled, for that key only', async () => {
    const names = async (base: string) =>
      list(await (await fetch(`${base}/api/tags`)).json(), 'models').map((model) => at(model, 'name'))
    expect(await names(server.base('text', 'aside'))).not.toContain('new:1b')
    const lines = events((await get('/api/pull', { method: 'POST', body: '{"model":"new:1b"}' })).text)
    expect(lines.at(-1)).toEqual({ status: 'success' })
    expect(await names(server.base('text', 'aside'))).toContain('new:1b')
    expect(await names(server.base('text', 'other'))).not.toContain('new:1b')
  })

  it('answers an unknown path with 404 and says which', async () => {
    const answer = await get('/v2/unknown')
    expect(answer.status).toBe(404)
    expect(answer.text).toContain('no GET /v2/unknown')
  })
})
