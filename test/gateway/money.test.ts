import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Budget } from '../../src/domain/agent/agent-config.ts'
import { createGateway } from '../../src/gateway/serving/gateway.ts'
import type { WireName } from '../../src/gateway/wires/wire.ts'
import { clients } from '../model-server/clients.ts'
import { startModelServer } from '../model-server/server.ts'
import { makeSpenders } from './purse-parts.ts'
import { ask, listening, provider, route, routingOf, startProvider, token } from './stage.ts'

const usage = { input: 800, output: 40, cacheRead: 100, cacheWrite: 0, reasoning: 3 }
/** What the provider asks for one answer, at a dollar for a thousand tokens. */
const answerUsd = (usage.input + usage.output) / 1000
const script = { about: 'Says one sentence.', steps: [{ text: 'one two three four five', usage, repeat: 'always' as const }] }

const closers: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closers.toReversed()) await close()
})
const models = await startModelServer({
  maxRequests: 5_000,
  scenarios: {
    billed: script,
    drips: { ...script, steps: [{ ...script.steps[0]!, slow: { msPerChunk: 60 } }] },
    breaks: { ...script, steps: [{ ...script.steps[0]!, cut: { afterChunks: 3 } }] },
  },
})
closers.push(models.close)
const { log, begin, booked, held } = await makeSpenders((close) => closers.push(close))

/** A run with its door to one provider. */
async function serve(baseUrl: string, options: { budget?: Budget; wire?: WireName; model?: string } = {}) {
  const spender = await begin({ budget: options.budget ?? { usd: 1000 } })
  const gateway = createGateway({ clock: systemClock })
  const routing = routingOf(route(options.model ?? 'm', provider('maker', options.wire ?? 'anthropic', baseUrl)))
  const door = gateway.open({ routing, purse: spender.purse, token, log })
  const listener = await listening((request, response) => void door.serve(request, response, request.url ?? '/'))
  let isOver = false
  const end = async () => {
    if (isOver) return
    isOver = true
    await door.close()
    await spender.end()
    await listener.close()
    gateway.close()
  }
  onTestFinished(end)
  return { ...spender, url: listener.url, end }
}
const message = (stream: boolean, maxTokens = 50, model = 'm') =>
  JSON.stringify({ model, max_tokens: maxTokens, stream, messages: [{ role: 'user', content: 'Say one sentence, please.' }] })
/** What the provider will ask for: every answer that it brought to its end. */
const billOf = (key: string) =>
  models.requestsOf(key).filter(({ answer, isUnfinished }) => answer?.startsWith('steps') && !isUnfinished).length * answerUsd

it.each(clients.flatMap((client) => [true, false].map((stream) => ({ client, name: client.name, stream }))))(
  'the ledger has what the provider asks for ($name, stream: $stream)',
  async ({ client, name, stream }) => {
    const key = `bill-${name}-${stream}`
    const base = models.base('billed', key)
    const run = await serve(name.startsWith('openai') ? `${base}/v1` : base, { wire: name as WireName })
    for (let number = 0; number < 3; number++) {
      const { status } = await ask(`${run.url}${client.path(stream)}`, {
        body: JSON.stringify(client.body([{ user: 'Say one sentence, please.' }], stream)),
        headers: { authorization: `Bearer ${token}`, 'x-goog-api-key': token },
      })
      expect(status).toBe(200)
    }
    await run.end()
    const bill = billOf(key)
    expect(bill).toBeCloseTo(3 * answerUsd, 9)
    const { counted, cost, lines } = await booked(run.run.id)
    expect({ counted, lines }).toEqual({ counted: cost, lines: 3 })
    expect(cost).toBeCloseTo(bill, 9)
  },
)

it('two hundred calls at once come to no more than the budget, and the ledger is the bill', async () => {
  const budget = { usd: 50 }
  const run = await serve(models.base('billed', 'storm'), { budget })
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) => ask(`${run.url}/v1/messages`, { body: message(index % 2 === 0) })),
  )
  await run.end()
  const bill = billOf('storm')
  const served = answers.filter(({ status }) => status === 200).length
  expect(bill).toBeCloseTo(served * answerUsd, 9)
  expect(bill).toBeLessThanOrEqual(budget.usd)
  expect((await booked(run.run.id)).counted).toBeCloseTo(bill, 9)
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused[0]!.body.toString()).toMatch(/its budget is \$50\.00: the next call of m could cost up to/)
  expect(await run.over).toMatchObject({ kind: 'over_budget' })
})

it('an agent that does not listen to the refusal reaches the provider no more', async () => {
  const run = await serve(models.base('billed', 'deaf'), { budget: { usd: 3 } })
  const statuses: number[] = []
  for (let number = 0; number < 40; number++) statuses.push((await ask(`${run.url}/v1/messages`, { body: message(true) })).status)
  const refusedFrom = statuses.findIndex((status) => status !== 200)
  expect(refusedFrom).toBeGreaterThan(0)
  expect(statuses.slice(refusedFrom).every((status) => status >= 400)).toBe(true)
  expect(models.requestsOf('deaf')).toHaveLength(refusedFrom)
  await run.end()
  expect((await booked(run.run.id)).counted).toBeCloseTo(refusedFrom * answerUsd, 9)
})

it('a cap that is reached while an answer streams lets it end, and nothing more begins', async () => {
  const run = await serve(models.base('drips', 'mid'), { budget: { usd: 2 } })
  const first = ask(`${run.url}/v1/messages`, { body: message(true) })
  await models.waitFor(({ key }) => key === 'mid')
  // It could cost less than it may: this one waits for it, and then goes.
  const second = ask(`${run.url}/v1/messages`, { body: message(true) })
  const third = ask(`${run.url}/v1/messages`, { body: message(true, 5_000) })
  expect((await third).status).not.toBe(200)
  const { status, isCut } = await first
  expect({ status, isCut }).toEqual({ status: 200, isCut: false })
  await second
  await run.end()
  const { counted } = await booked(run.run.id)
  expect(counted).toBeCloseTo(billOf('mid'), 9)
  expect(counted).toBeLessThanOrEqual(2)
})

it('a client that goes away is charged for what the provider may have written, and never less than the provider asks for', async () => {
  const run = await serve(models.base('drips', 'gone'))
  const sent: ClientRequest = request(`${run.url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': token } })
  sent.on('error', () => undefined)
  sent.end(message(true))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  await once(response, 'data')
  sent.destroy()
  await models.waitFor(({ key, isUnfinished }) => key === 'gone' && isUnfinished === true)
  await run.end()
  const { counted, unknown, lines } = await booked(run.run.id)
  expect({ unknown, lines }).toEqual({ unknown: 1, lines: 1 })
  expect(counted).toBeGreaterThanOrEqual(answerUsd)
  expect(counted).toBeLessThanOrEqual((usage.input + 100) / 1000)
})

it('an answer that breaks off, and one whose provider tells no usage, count as the most they can have cost', async () => {
  const cut = await serve(models.base('breaks', 'cut'))
  await ask(`${cut.url}/v1/messages`, { body: message(true) })
  await cut.end()
  expect(await booked(cut.run.id)).toMatchObject({ cost: null, unknown: 1, lines: 1 })
  expect((await booked(cut.run.id)).counted).toBeGreaterThanOrEqual(answerUsd)

  const silent = await startProvider((_, response) => {
    const answer = { id: 'x', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: 'end_turn' }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  onTestFinished(silent.close)
  const untold = await serve(silent.url)
  expect((await ask(`${untold.url}/v1/messages`, { body: message(false) })).status).toBe(200)
  await untold.end()
  const { counted, cost, unknown } = await booked(untold.run.id)
  expect({ cost, unknown }).toEqual({ cost: null, unknown: 1 })
  expect(counted).toBeGreaterThan(0.05)
})

it('a storm of retries at a provider that refuses costs nothing and holds nothing', async () => {
  const run = await serve(models.base('server-error', 'retries'), { budget: { usd: 5 } })
  const answers = await Promise.all(Array.from({ length: 60 }, () => ask(`${run.url}/v1/messages`, { body: message(true) })))
  expect(answers.every(({ status }) => status >= 400)).toBe(true)
  await run.end()
  expect(await booked(run.run.id)).toMatchObject({ counted: null, lines: 0 })
  expect(await held(run.run.id)).toBeUndefined()
})

it('a model whose price nobody knows counts as the dearest, and its cost is not said to be nothing', async () => {
  const run = await serve(models.base('billed', 'strange'), { model: 'strange' })
  await ask(`${run.url}/v1/messages`, { body: message(false, 50, 'strange') })
  await run.end()
  expect(await booked(run.run.id)).toEqual({ counted: answerUsd, cost: null, lines: 1, unknown: 1 })
})
