import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { eventsUntil, isResting, makeHome, startEngine, until } from '../engine/home.ts'
import { HandClock } from '../engine/test-clock.ts'
import { startPeer } from './peer.ts'

const by = { by: 'test' }

test('what cannot be cancelled at a remote agent for hours is given up, which the task says, and is tried again when somebody wants it', async () => {
  const peer = await startPeer()
  const home = await makeHome()
  await writeFile(join(home.path, 'config.yaml'), `agents: { colleague: { adapter: a2a, url: "${peer.url}/plain" } }\n`)
  const clock = new HandClock()
  const daemon = await startEngine(home.path, { clock })
  onTestFinished(async () => {
    await daemon.stop()
    await peer.close()
    await home.remove()
  })
  const { runtime } = daemon
  const recall = async () => (await runtime.listNotifications({})).items.find(({ kind }) => kind === 'recall')

  const { task } = await runtime.createTask({ prompt: 'ask: Which colour?', agent: 'colleague' }, by)
  await eventsUntil(daemon, task.id, isResting)
  peer.leave()
  const cancelledAt = clock.now()
  await runtime.cancelTask(task.id, { ...by, now: false })
  const dead = await until(async () => {
    clock.advance(60_000)
    const now = await recall()
    return now?.state === 'dead' && now
  }, 120_000)
  expect(dead).toMatchObject({ attempts: 12, target: 'work elsewhere' })
  // Neither at once nor for ever.
  const hours = (clock.now() - cancelledAt) / 3_600_000
  expect(hours).toBeGreaterThan(2)
  const events = await eventsUntil(
    daemon,
    task.id,
    ({ type, data }) => type === 'run.noted' && 'code' in data && data.code === 'recall',
  )
  expect(events.at(-1)?.data).toMatchObject({ detail: expect.stringContaining(`Given up after 12 tries`) })
  expect(peer.seen.cancelled).toEqual([])

  peer.comeBack()
  await runtime.retryNotifications({ id: dead.id }, by)
  await until(async () => (await recall())?.state === 'sent', 60_000)
  expect(peer.seen.cancelled).toHaveLength(1)
}, 240_000)
