import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { createLog, silentLog } from '../base/log.ts'
import type { CallFacts } from '../gateway/money/purse.ts'
import type { Db } from '../store/database.ts'
import { otlpSettings } from './settings.ts'
import { spanIdOf, traceIdOf } from './span.ts'
import { createTelemetry, type SpannedRun } from './telemetry.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A collector that keeps what it gets. */
async function collector(status = 200) {
  const got: { path: string; headers: IncomingMessage['headers']; body: Body }[] = []
  const server = createServer(async (request, response) => {
    got.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(await text(request)) as Body })
    response.writeHead(status).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => server.close())
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

interface Body {
  resourceSpans: { resource: { attributes: Pair[] }; scopeSpans: { spans: SpanJson[] }[] }[]
}
interface Pair {
  key: string
  value: Record<string, unknown>
}
interface SpanJson {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Pair[]
  status?: { code: number }
}

const run: SpannedRun = {
  run: 'r_1',
  task: 't_2',
  root: 't_1',
  session: 's_1',
  agent: 'claude',
}
const call: CallFacts = {
  number: 1,
  route: {
    model: 'sonnet',
    target: 'claude-sonnet-4-5',
    provider: {
      name: 'mine',
      wire: 'anthropic',
      baseUrl: 'https://models.example:8443/x',
      account: 'a',
      key: async () => 'secret-key',
    },
  },
  asked: 'sonnet',
  translated: false,
  streamed: true,
  startedAt: new Date(1_200),
  firstMs: 250,
  durationMs: 900,
  status: 200,
  usage: { inputTokens: 10, outputTokens: 7, cacheReadTokens: 5, cacheWriteTokens: 2, reasoningTokens: 3 },
}

const start = (said: Record<string, string>, log = silentLog) =>
  createTelemetry({ said, version: '1.2.3', clock: systemClock, log, db: {} as Db, providerOf: () => undefined })

const valuesOf = (pairs: Pair[]) => Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]))

test('a call is part of the turn of its run, with the names that the conventions give and nothing of what was said', async () => {
  const { got, url } = await collector()
  const telemetry = start({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-team=a%20b,x-other=1',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
  })!
  telemetry.call(run, call)
  await telemetry.stop()
  expect(got).toHaveLength(1)
  expect(got[0]).toMatchObject({
    path: '/v1/traces',
    headers: { 'x-team': 'a b', 'x-other': '1', 'content-type': 'application/json' },
  })
  const [sent] = got[0]!.body.resourceSpans
  expect(valuesOf(sent!.resource.attributes)).toEqual({
    'service.name': 'pawl',
    'service.version': '1.2.3',
    'deployment.environment': 'test',
  })
  const [chat] = sent!.scopeSpans[0]!.spans
  expect(chat).toMatchObject({
    name: 'chat claude-sonnet-4-5',
    traceId: traceIdOf('t_1'),
    parentSpanId: spanIdOf('r_1 turn'),
    startTimeUnixNano: '1200000000',
    endTimeUnixNano: '2100000000',
  })
  expect(chat!.status).toBeUndefined()
  expect(valuesOf(chat!.attributes)).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.request.model': 'sonnet',
    'gen_ai.usage.input_tokens': '17',
    'gen_ai.usage.output_tokens': '7',
    'gen_ai.usage.cache_read.input_tokens': '5',
    'server.address': 'models.example',
    'pawl.task': 't_2',
  })
  expect(JSON.stringify(got)).not.toContain('secret-key')
})

test('a call that was refused, and one that got no answer, are errors with their kind', async () => {
  const { got, url } = await collector()
  const telemetry = start({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/here` })!
  const { usage: _, status: __, ...rest } = call
  telemetry.call(run, { ...rest, status: 429, refusal: { kind: 'rate_limited', message: 'slow down' } })
  telemetry.call(run, { ...rest, number: 2 })
  await telemetry.stop()
  expect(got[0]!.path).toBe('/here')
  const { spans } = got[0]!.body.resourceSpans[0]!.scopeSpans[0]!
  expect(spans.map(({ status, attributes }) => [status?.code, valuesOf(attributes)['error.type']])).toEqual([
    [2, 'rate_limited'],
    [2, 'no_answer'],
  ])
})

test('a collector that refuses costs one line in the log and nothing else', async () => {
  const { got, url } = await collector(503)
  const lines: string[] = []
  const log = createLog({ level: 'warn', format: 'json', now: Date.now, write: (line) => lines.push(line) })
  const telemetry = start({ OTEL_EXPORTER_OTLP_ENDPOINT: url }, log)!
  for (let number = 1; number <= 5_000; number++) telemetry.call(run, { ...call, number })
  await telemetry.stop()
  expect(got.length).toBeGreaterThan(0)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('it answered 503')
})

test.each([
  ['nothing is set', {}, undefined],
  ['it is switched off', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' }, undefined],
  ['the endpoint is no URL', { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }, 'no http or https URL'],
  [
    'only gRPC is spoken there',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    'http/json',
  ],
])('no spans are sent if %s', (_, said, sentence) => {
  const lines: string[] = []
  const log = createLog({ level: 'warn', format: 'json', now: Date.now, write: (line) => lines.push(line) })
  expect(otlpSettings(said, log)).toBeUndefined()
  expect(lines.join()).toContain(sentence ?? '')
  expect(lines).toHaveLength(sentence === undefined ? 0 : 1)
})
