import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { eventsUntil, isResting, makeHome, startEngine } from '../engine/home.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'

/** Asks the models that it is told, one after the other, as an agent would. */
const asking = `
const ask = (model) => fetch(process.env.PAWL_MODEL_URL + '/v1/messages', {
  method: 'POST', headers: { 'content-type': 'application/json', 'x-api-key': process.env.PAWL_MODEL_KEY },
  body: JSON.stringify({ model, max_tokens: 100, stream: true, messages: [{ role: 'user', content: 'a very private question' }] }),
}).then((answer) => answer.text())
for (const model of process.argv.slice(1)) await ask(model)
console.log('asked')`

const spans: SpanJson[] = []
interface SpanJson {
  traceId: string
  name: string
  attributes: { key: string; value: Record<string, unknown> }[]
}
let collector: Server
let models: ModelServer
let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Daemon
const endpointVariable = 'OTEL_EXPORTER_OTLP_ENDPOINT'

beforeAll(async () => {
  collector = createServer(async (request, response) => {
    const body = JSON.parse(await text(request)) as { resourceSpans: { scopeSpans: { spans: SpanJson[] }[] }[] }
    spans.push(...body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  process.env[endpointVariable] = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  models = await startModelServer()
  home = await makeHome()
  const provider = (scenario: string) => ({ kind: 'anthropic', baseUrl: models.base(scenario, 'figures') })
  const settings = {
    providers: { good: provider('text'), busy: provider('rate-limit-long') },
    models: { 'model-a': { provider: 'good' }, 'model-b': { provider: 'busy' } },
    prices: { 'model-*': { input: 1, output: 2 } },
    agents: {
      asker: {
        adapter: 'custom',
        command: [process.execPath, '--input-type=module', '--eval', asking, 'model-a', 'model-a', 'model-b'],
        wire: 'anthropic',
        model: 'model-a',
        models: ['model-b'],
        retries: 0,
      },
    },
  }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(settings))
  daemon = await startEngine(home.path)
})
afterAll(async () => {
  delete process.env[endpointVariable]
  await models.close()
  await home.remove()
  collector.close()
})

test('what models did in a run is told by figures and by spans, without a word of what was said', async () => {
  const { task } = await daemon.runtime.createTask({ prompt: 'ask', agent: 'asker' }, { by: 'test' })
  const events = await eventsUntil(daemon, task.id, isResting)
  expect(events.filter((event) => event.type === 'model.called').map(({ data }) => data)).toMatchObject([
    { number: 1, model: 'model-a', provider: 'good', status: 200 },
    { number: 2, model: 'model-a', provider: 'good', status: 200 },
    { number: 3, model: 'model-b', provider: 'busy', status: 429, refusal: { kind: 'rate_limited' } },
  ])

  const { items } = await daemon.runtime.listModelFigures({})
  expect(items).toMatchObject([
    { model: 'model-a', provider: 'good', calls: 2, refused: 0, outputTokens: 30 },
    { model: 'model-b', provider: 'busy', calls: 1, refused: 1, refusals: { rate_limited: 1 }, tokensPerSecond: null },
  ])
  // The scripted model says of 120 tokens of input that 40 came from its cache.
  expect(items[0]!.cacheHits).toBeCloseTo(1 / 3)
  expect(items[0]!.firstMs.p99).toBeGreaterThan(0)
  expect((await daemon.runtime.listModelFigures({ until: '2020-01-02T00:00:00Z', since: '2020-01-01T00:00:00Z' })).items).toEqual(
    [],
  )
  await expect(daemon.runtime.listModelFigures({ until: '2020-01-01T00:00:00Z' })).rejects.toThrow('must come after')

  await daemon.stop()
  expect(spans.map(({ name }) => name).toSorted()).toEqual([
    ...['chat model-a', 'chat model-a', 'chat model-b'],
    ...['invoke_agent asker', 'run asker', 'task asker'],
  ])
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
  const errorOf = ({ attributes }: (typeof spans)[0]) => attributes.find(({ key }) => key === 'error.type')?.value.stringValue
  expect(spans.filter((span) => errorOf(span) !== undefined).map((span) => [span.name, errorOf(span)])).toEqual([
    ['chat model-b', 'rate_limited'],
  ])
  expect(JSON.stringify(spans)).not.toContain('private')
})
