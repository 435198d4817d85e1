import { describe, expect, it } from 'vitest'
import { wireNames } from '../../src/gateway/wires/wire.ts'
import { bothSaid, errorOf, firstInput, image, imageSeen, placeSchema, sdkStage, tokens } from './sdk-stage.ts'

/** What the tests use of `@google/genai`. */
interface Library {
  readonly GoogleGenAI: new (options: { apiKey: string; httpOptions: { baseUrl: string } }) => Client
  readonly ApiError: unknown
}
interface Client {
  readonly models: {
    generateContent(request: object): Promise<Answer>
    generateContentStream(request: object): Promise<AsyncIterable<Answer>>
    countTokens(request: object): Promise<{ totalTokens: number }>
    list(): Promise<{ page: { name: string }[] }>
  }
}
interface Answer {
  readonly candidates?: { content?: { parts?: Part[] }; finishReason?: string }[]
  readonly usageMetadata?: Record<string, unknown>
}
interface Part {
  readonly text?: string
  readonly thought?: boolean
  readonly functionCall?: { id?: string; name: string; args: unknown }
}

const here = sdkStage<Library, Client>(
  '@google/genai',
  (library, baseUrl, apiKey) => new library.GoogleGenAI({ apiKey, httpOptions: { baseUrl } }),
)

interface Heard {
  readonly parts: readonly Part[]
  readonly finishReason: string | undefined
  readonly usage: Record<string, unknown> | undefined
}
const heard = (answers: readonly Answer[]): Heard => ({
  parts: answers.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []),
  finishReason: answers.map(({ candidates }) => candidates?.[0]?.finishReason).findLast(Boolean),
  usage: answers.findLast(({ usageMetadata }) => usageMetadata)?.usageMetadata,
})
const asked = {
  whole: async (request: object) => heard([await here.client.models.generateContent(request)]),
  streamed: async (request: object) => {
    const answers: Answer[] = []
    for await (const answer of await here.client.models.generateContentStream(request)) answers.push(answer)
    return heard(answers)
  },
}
const wordsOf = ({ parts }: Heard, isThought = false) =>
  parts.map((part) => ((part.thought ?? false) === isThought ? (part.text ?? '') : '')).join('')

describe.each(wireNames)("Google's library on a model that is asked in the format %s", (wire) => {
  const request = (scenario: string, more: object = {}) => ({
    ...{ model: `${scenario}.${wire}`, contents: [{ role: 'user', parts: [{ text: 'hello' }] }] },
    ...more,
  })

  it.each(['whole', 'streamed'] as const)('gets words and their price, %s', async (how) => {
    const answer = await asked[how](request('text'))
    const { input, cached, output } = tokens(wire)
    expect([wordsOf(answer), answer.finishReason]).toEqual(['Hello from the scripted model.', 'STOP'])
    expect(answer.usage).toMatchObject({ promptTokenCount: input + cached, totalTokenCount: input + cached + output })
    expect(answer.usage?.cachedContentTokenCount ?? 0).toBe(cached)
    expect(here.stage.billed()).toMatchObject({ inputTokens: input, cacheReadTokens: cached, outputTokens: output })
  })

  it.each(['whole', 'streamed'] as const)('is asked for two calls at once and sends back both results, %s', async (how) => {
    const functionDeclarations = [
      { name: 'first', description: 'The first.', parametersJsonSchema: placeSchema },
      { name: 'second', description: 'The second.' },
    ]
    const thinkingConfig = { includeThoughts: true, thinkingBudget: 2000 }
    const first = request('parallel-tools', { config: { tools: [{ functionDeclarations }], thinkingConfig } })
    const answer = await asked[how](first)
    const calls = answer.parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []))
    expect(calls.map(({ name, args }) => [name, args])).toEqual([
      ['first', firstInput],
      ['second', {}],
    ])
    expect(wordsOf(answer, true)).toBe('Two at once.')
    const results = calls.map(({ id, name }, index) => ({
      functionResponse: { id, name, response: { output: ['one', 'two'][index] } },
    }))
    const contents = [...first.contents, { role: 'model', parts: answer.parts }, { role: 'user', parts: results }]
    expect(wordsOf(await asked[how]({ ...first, contents }))).toBe(bothSaid(wire))
  })

  it('shows an image', async () => {
    const parts = [{ inlineData: { mimeType: 'image/png', data: image } }, { text: 'What is it?' }]
    expect(wordsOf(await asked.whole(request('images', { contents: [{ role: 'user', parts }] })))).toBe(imageSeen)
  })

  it('counts tokens', async () => {
    expect((await here.client.models.countTokens(request('text'))).totalTokens).toBeGreaterThan(0)
  })

  it.each([
    ['rate-limit', 429],
    ['auth', 401],
    ['forbidden', 403],
    ['not-found', 404],
    ['context-overflow', 400],
    ['overloaded', 503],
  ])('throws its own error for %s', async (scenario, status) => {
    for (const how of ['whole', 'streamed'] as const) {
      const error = await errorOf(asked[how](request(scenario)))
      expect(error).toBeInstanceOf(here.library.ApiError)
      expect(error.status).toBe(status)
      if (scenario === 'rate-limit') expect(error.message).toContain('"retryDelay":"1s"')
    }
  })

  it('throws for a refusal in the middle of a stream, and for a stream that is cut', async () => {
    expect((await errorOf(asked.streamed(request('overloaded-in-stream')))).message).toMatch(/overloaded|busy/i)
    expect((await errorOf(asked.streamed(request('cut')))).message).not.toBe('')
  })

  it('gets a list where it does not ask for events', async () => {
    const address = `${here.stage.url}/v1beta/models/text.${wire}:streamGenerateContent?key=${here.stage.token}`
    const response = await fetch(address, { method: 'POST', body: JSON.stringify({ contents: request('text').contents }) })
    const answers = (await response.json()) as Answer[]
    expect(Array.isArray(answers)).toBe(true)
    expect(wordsOf(heard(answers))).toBe('Hello from the scripted model.')
  })
})

it('is refused with a key that is not the token, and for a model that there is not', async () => {
  const ask = (by: Client, model: string) => errorOf(by.models.generateContent({ model, contents: 'hello' }))
  expect((await ask(here.stranger, 'text.gemini')).status).toBe(401)
  expect((await ask(here.client, 'text.nowhere')).status).toBe(404)
})

it('lists the models of the run', async () => {
  const { page } = await here.client.models.list()
  expect(page.map(({ name }) => name)).toEqual(wireNames.map((wire) => `models/text.${wire}`))
})
