import { once } from 'node:events'
import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import type { Span } from '../../src/telemetry/span.ts'
import { spanIdOf, traceIdOf } from '../../src/telemetry/span.ts'
import { makeHome } from '../engine/ready-database.ts'
import { until } from '../engine/until.ts'
import { startReceiver } from '../receiver/receiver.ts'
import { faultsIn } from '../telemetry/conventions.ts'
import { serve } from './pawl.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let folder: string
/** What a collector on the loopback was sent. A span that comes again replaces the one it was. */
const spans = new Map<string, Span>()
const bodies: string[] = []
const collector = createServer(async (request, response) => {
  const body = await text(request)
  bodies.push(body)
  const sent = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }
  for (const span of sent.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
    spans.set(span.spanId, span)
  response.end('{}')
})
beforeAll(async () => {
  home = await makeHome()
  folder = await mkdtemp(join(tmpdir(), 'pawl-program-'))
  await chmod(folder, 0o755)
  await copyFile(fileURLToPath(new URL('../fake-agent/fake-claude.js', import.meta.url)), join(folder, 'fake-claude.js'))
  await writeFile(join(folder, 'claude'), `#!/bin/sh\nexec "${process.execPath}" "${folder}/fake-claude.js" "$@"\n`, {
    mode: 0o755,
  })
  await once(collector.listen(0, '127.0.0.1'), 'listening')
})
afterAll(async () => {
  collector.close()
  await home.remove()
  await rm(folder, { recursive: true, force: true })
})

const called = (id: string, name: string) => ({
  line: { type: 'assistant', message: { content: [{ type: 'tool_use', id, name, input: { file_path: 'the-content' } }] } },
})
const returned = (id: string, isError = false) => ({
  line: {
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: id, content: 'the-content', is_error: isError }] },
  },
})
const attributesOf = (span: Span | undefined) =>
  Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]))
/** Names, each below what it is part of, in the order of their beginning. */
const treeOf = (parent: string | undefined, depth = 0): string[] =>
  [...spans.values()]
    .filter((span) => span.parentSpanId === parent)
    .sort((one, other) => Number(BigInt(one.startTimeUnixNano) - BigInt(other.startTimeUnixNano)))
    .flatMap((span) => [`${'  '.repeat(depth)}${span.name}`, ...treeOf(span.spanId, depth + 1)])

test('a task is one trace of runs, turns and tools, also of a run whose daemon was killed, and nothing that was said is in it', {
  timeout: 90_000,
}, async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}` }
  const begin = async () => {
    const daemon = await serve(home.path, { env })
    const ask = async <T>(path: string, body?: unknown) => {
      const headers = { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json', accept: 'application/json' }
      const given = body ? { method: 'POST', body: JSON.stringify(body) } : {}
      return (await (await fetch(`${daemon.url}/api/v1${path}`, { headers, ...given })).json()) as T
    }
    return { ...daemon, ask }
  }
  const second = [called('c', 'Bash'), returned('c'), called('d', 'Edit'), returned('d', true), { say: 'done' }]
  const steps = [{ next: second }, called('a', 'Read'), returned('a'), called('b', 'Bash'), { hang: true }]
  const agentConfig = ResolvedAgent.parse({
    name: 'helper',
    adapter: 'claude-code',
    model: 'a-model',
    options: { command: join(folder, 'claude') },
    env: { pass: [], set: { ANTHROPIC_API_KEY: 'key-0123456789' } },
    gateway: false,
    graceMs: 1_000,
  })

  const first = await begin()
  const task = await first.ask<{ id: string }>('/tasks', { prompt: JSON.stringify(steps), agentConfig })
  await until(async () => JSON.stringify(await first.ask(`/tasks/${task.id}/events`)).includes('"callId":"b"'))
  first.process.kill('SIGKILL')
  await first.ended

  const again = await begin()
  onTestFinished(async () => {
    again.process.kill('SIGTERM')
    await again.ended
  })
  await until(async () => (await again.ask<{ state: string }>(`/tasks/${task.id}`)).state === 'completed', 60_000)
  const root = await until(() => [...spans.values()].find(({ parentSpanId }) => parentSpanId === undefined))

  expect(root.traceId).toBe(traceIdOf(task.id))
  expect(new Set([...spans.values()].map(({ traceId }) => traceId)).size).toBe(1)
  expect(treeOf(undefined)).toEqual([
    'task helper',
    '  run helper',
    '    invoke_agent helper',
    '      execute_tool Read',
    '      execute_tool Bash',
    '  run helper',
    '    invoke_agent helper',
    '      execute_tool Bash',
    '      execute_tool Edit',
  ])
  const of = (operation: string) =>
    [...spans.values()].map(attributesOf).filter((all) => all['gen_ai.operation.name'] === operation)
  expect(attributesOf(root)).toMatchObject({ 'pawl.task': task.id, 'pawl.task.state': 'completed', 'pawl.runs': '2' })
  expect(of('invoke_agent').at(-1)).toMatchObject({
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.agent.id': 'helper',
    'gen_ai.agent.name': 'helper',
    'gen_ai.request.model': 'a-model',
    'gen_ai.conversation.id': expect.stringMatching(/^s_/),
    'gen_ai.usage.input_tokens': '13',
    'gen_ai.usage.output_tokens': '5',
    'gen_ai.usage.cache_read.input_tokens': '1',
    'gen_ai.usage.cache_creation.input_tokens': '2',
  })
  expect(of('execute_tool').map((all) => [all['gen_ai.tool.name'], all['gen_ai.tool.call.id'], all['error.type']])).toEqual([
    ['Read', 'a', undefined],
    ['Bash', 'b', 'no_answer'],
    ['Bash', 'c', undefined],
    ['Edit', 'd', 'tool_error'],
  ])
  for (const span of spans.values()) {
    const above = span.parentSpanId === undefined ? span : spans.get(span.parentSpanId)!
    expect(BigInt(span.startTimeUnixNano) >= BigInt(above.startTimeUnixNano), span.name).toBe(true)
    expect(BigInt(span.endTimeUnixNano) <= BigInt(above.endTimeUnixNano), span.name).toBe(true)
  }
  expect([...spans.values()].flatMap((span) => faultsIn(span).map((fault) => `${span.name}: ${fault}`))).toEqual([])
  expect(bodies.join()).not.toMatch(/the-content|key-0123456789|file_path|done/)
})

test('a task that is asked for within a span lies below it, and what it asks of others carries our own', {
  timeout: 90_000,
}, async () => {
  spans.clear()
  const heard: (string | undefined)[] = []
  const provider = createServer((request, response) => {
    request.resume()
    heard.push(request.headers.traceparent as string | undefined)
    const message = { role: 'assistant', content: 'Hello.' }
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ choices: [{ index: 0, message }], usage }))
  })
  await once(provider.listen(0, '127.0.0.1'), 'listening')
  const hooks = await startReceiver()
  onTestFinished(async () => {
    provider.close()
    await hooks.stop()
  })
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
  const program = `fetch(process.env.PAWL_MODEL_URL + '/chat/completions', { method: 'POST',
    headers: { authorization: 'Bearer ' + process.env.PAWL_MODEL_KEY, 'content-type': 'application/json', traceparent: 'of-the-program' },
    body: JSON.stringify({ model: 'good', messages: [{ role: 'user', content: 'hello' }] }) }).then((answer) => answer.text()).then(console.log)`
  const secret = { env: 'HOOK_SECRET' }
  const settings = {
    agents: {
      speaker: {
        ...{ adapter: 'custom', wire: 'openai-chat', model: 'good', profile: 'unattended-open' },
        command: [process.execPath, '--eval', program],
      },
    },
    providers: { there: { kind: 'openai-compatible', baseUrl } },
    models: { good: { provider: 'there' } },
    notifications: { ops: { webhook: { url: hooks.url('/ok'), secret, allowPrivate: true }, events: ['task.completed'] } },
  }
  const other = await makeHome()
  await writeFile(join(other.path, 'config.yaml'), JSON.stringify(settings))
  const daemon = await serve(other.path, {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
      HOOK_SECRET: 'signs-what-is-sent-0123456789',
    },
  })
  onTestFinished(async () => {
    daemon.process.kill('SIGTERM')
    await daemon.ended
    await other.remove()
  })
  const post = async (path: string, body: unknown, headers: Record<string, string>) => {
    const given = { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json', accept: 'application/json' }
    const answer = await fetch(`${daemon.url}${path}`, {
      method: 'POST',
      headers: { ...given, ...headers },
      body: JSON.stringify(body),
    })
    return (await answer.json()) as { id: string; result: { task: { id: string } } }
  }
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const above = '00f067aa0ba902b7'
  const context = (flags: string) => ({ traceparent: `00-${traceId}-${above}-${flags}`, tracestate: 'vendor=x' })

  const message = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hello' }], metadata: { agent: 'speaker' } }
  const asked = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
  const byA2A = await post('/a2a', asked, { 'A2A-Version': '1.0', ...context('01') })
  await until(() => spans.has(spanIdOf(byA2A.result.task.id)))
  expect(treeOf(above)).toEqual(['task speaker', '  run speaker', '    invoke_agent speaker', '      chat good'])
  const all = [...spans.values()]
  expect(new Set(all.map((span) => span.traceId))).toEqual(new Set([traceId]))
  const chat = all.find(({ name }) => name === 'chat good')
  expect(heard).toEqual([`00-${traceId}-${chat?.spanId}-01`])
  await until(() => hooks.at('/ok').length === 1)
  expect(hooks.at('/ok')[0]?.headers).toMatchObject({
    traceparent: `00-${traceId}-${spanIdOf(byA2A.result.task.id)}-01`,
    tracestate: 'vendor=x',
  })
  expect(all.flatMap((span) => faultsIn(span).map((fault) => `${span.name}: ${fault}`))).toEqual([])

  // Whoever began the trace wants no spans of it; what we ask of others says so too.
  spans.clear()
  const unwanted = await post('/api/v1/tasks', { prompt: 'hello', agent: 'speaker' }, context('00'))
  await until(() => hooks.at('/ok').length === 2)
  expect(hooks.at('/ok')[1]?.headers.traceparent).toBe(`00-${traceId}-${spanIdOf(unwanted.id)}-00`)
  const last = await post('/api/v1/tasks', { prompt: 'hello', agent: 'speaker' }, { traceparent: 'no context at all' })
  await until(() => spans.has(spanIdOf(last.id)))
  expect(new Set([...spans.values()].map((span) => span.traceId))).toEqual(new Set([traceIdOf(last.id)]))
})
