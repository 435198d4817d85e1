import { expect, it } from 'vitest'
import { accountOf } from '../../../src/domain/agent/account.ts'
import { newId } from '../../../src/domain/id.ts'
import { insertQuestion } from '../../../src/store/questions.ts'
import { findSession } from '../../../src/store/runs.ts'
import { agentWith, hour, makeWorld, minute, second, usageLimit } from './world.ts'

it('a task whose agent is at its limit goes on with the next agent whose account is free, and stays there', async () => {
  const world = await makeWorld()
  const [claude, codex, other] = [agentWith('claude'), agentWith('codex', 'codex', { adapter: 'demo' }), agentWith('other')]
  const resetMs = world.clock.now() + 5 * hour
  world.provide('claude', (nowMs) => (nowMs < resetMs ? usageLimit(resetMs) : undefined))
  world.provide('codex', (nowMs) => (nowMs < resetMs ? usageLimit(resetMs) : undefined))
  // The account of the first in the list is at its limit already.
  await world.add(codex)
  await world.pass(2 * minute)
  const id = await world.add(claude, { spec: { failover: [codex, other] } })
  const session = (await world.task(id)).session_id
  await world.pass(90_000)
  const task = await world.task(id)
  expect(task).toMatchObject({ agent: 'other', account: accountOf(other), attempts: 0, agent_config: { name: 'other' } })
  expect(task.spec.failover?.map(({ name }) => name)).toEqual(['codex', 'claude'])
  expect(await findSession(world.db, session)).toMatchObject({ agent: 'other', vendor_id: null, retell: true })
  expect((await world.eventsOf(id)).find((event) => event.type === 'task.requeued')).toMatchObject({
    data: { why: 'failover', detail: 'claude is at its limit; other goes on.' },
  })
  // When the first account is free again, the conversation stays where it is.
  world.runsTake(6 * hour)
  await world.pass(8 * hour)
  expect(await world.task(id)).toMatchObject({ state: 'completed', agent: 'other' })
  expect(world.starts.filter((start) => start.task === id).map((start) => start.agent)).toEqual(['claude', 'other'])
  await world.stop()
}, 60_000)

it('a task that is asked for while its account is at its limit begins with the next agent at once, without a word about a lost conversation', async () => {
  const world = await makeWorld()
  const [claude, codex] = [agentWith('claude'), agentWith('codex', 'codex', { adapter: 'demo' })]
  world.provide('claude', (nowMs) => usageLimit(nowMs + 5 * hour))
  await world.add(claude)
  await world.pass(2 * minute)
  const [mine, plain] = [await world.add(claude, { spec: { failover: [codex] } }), await world.add(claude)]
  await world.pass(2 * minute)
  expect(await world.task(mine)).toMatchObject({ state: 'completed', agent: 'codex' })
  expect(await world.task(plain)).toMatchObject({ state: 'parked', agent: 'claude' })
  expect(await findSession(world.db, (await world.task(mine)).session_id)).toMatchObject({ adapter: 'demo', retell: false })
  await world.stop()
}, 60_000)

it('a session that another task waits for is not taken to another agent, nor is a task that is to be run once, nor one with arguments of its own', async () => {
  const world = await makeWorld()
  const [claude, codex] = [agentWith('claude'), agentWith('codex', 'codex', { adapter: 'demo' })]
  world.provide('claude', (nowMs) => usageLimit(nowMs + 5 * hour))
  const first = await world.add(claude, { spec: { failover: [codex] } })
  const { session_id: session } = await world.task(first)
  await world.add(claude, { session })
  const once = await world.add(claude, { spec: { failover: [codex], once: true } })
  const strange = await world.add(claude, { spec: { failover: [codex] } })
  await world.db
    .updateTable('pawl.tasks')
    .set({ extra_args: ['--flag'] })
    .where('id', '=', strange)
    .execute()
  await world.pass(5 * minute)
  expect(await world.task(first)).toMatchObject({ state: 'parked', agent: 'claude' })
  expect(await world.task(once)).toMatchObject({ state: 'failed', agent: 'claude' })
  expect(await world.task(strange)).toMatchObject({ state: 'parked', agent: 'claude' })
  await world.stop()
}, 60_000)

it('an account whose time is over is gone back to, although nobody else has tried it since', async () => {
  const world = await makeWorld()
  const [claude, codex] = [agentWith('claude'), agentWith('codex', 'codex', { adapter: 'demo' })]
  const resetMs = world.clock.now() + 5 * hour
  world.provide('claude', (nowMs) => (nowMs < resetMs ? usageLimit(resetMs) : undefined))
  world.provide('codex', (nowMs) => usageLimit(nowMs + 5 * hour))
  const id = await world.add(claude, { spec: { failover: [codex] } })
  await world.pass(90_000)
  expect(await world.task(id)).toMatchObject({ state: 'running', agent: 'codex' })
  // It works for long, and meets the limit of its own account when that of the first is over.
  for (const one of world.live) one.endsAt += 6 * hour
  await world.pass(7 * hour)
  expect(await world.task(id)).toMatchObject({ state: 'completed', agent: 'claude' })
  await world.stop()
}, 60_000)

it('a task that waits for an answer is not handed over without a word', async () => {
  const world = await makeWorld()
  const [claude, codex] = [agentWith('claude'), agentWith('codex', 'codex', { adapter: 'demo' })]
  world.provide('claude', (nowMs) => usageLimit(nowMs + 5 * hour))
  const id = await world.add(claude, { spec: { failover: [codex] } })
  await world.pass(second)
  const { run } = world.live[0]!
  const question = { id: newId('question', world.clock.now()), kind: 'free' as const, text: 'Which?', options: [], isHeld: false }
  const by = { task: id, run: run.id, fence: run.fence, at: new Date(world.clock.now()) }
  await world.db.transaction().execute((tx) => insertQuestion(tx, { ...question, ...by }))
  await world.pass(2 * minute)
  expect(await world.task(id)).toMatchObject({ state: 'blocked', agent: 'claude', reason: { kind: 'question' } })
  await world.stop()
}, 60_000)
