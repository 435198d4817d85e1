import fc from 'fast-check'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { NewEvent } from '../../src/domain/event/event.ts'
import { type Notification, notifiable } from '../../src/domain/notification/notification.ts'
import { createDelivery } from '../../src/engine/delivery/deliver.ts'
import type { Message } from '../../src/engine/delivery/message.ts'
import type { Sender } from '../../src/engine/delivery/sender.ts'
import { outboxWriter } from '../../src/engine/delivery/write.ts'
import { createJournal } from '../../src/engine/journal/journal.ts'
import { listOutbox } from '../../src/store/outbox.ts'
import { until } from './home.ts'
import { makeParts } from './store.ts'

const events: readonly NewEvent[] = [
  { type: 'task.completed', data: { verified: false } },
  { type: 'task.failed', data: { category: 'crashed', message: 'It crashed.' } },
  { type: 'task.parked', data: { kind: 'usage_limit', until: '2030-01-01T00:00:00.000Z' } },
  { type: 'task.cancelled', data: { by: 'test' } },
  { type: 'agent.message', data: { text: 'hello' } },
]
const target = (name: string, wanted: Notification['events']): Notification => ({
  name,
  events: wanted,
  attempts: 1_000,
  way: { kind: 'webhook', url: 'https://receiver.example/', secret: { env: 'X' }, allowPrivate: false },
})

it('every event that is stored and wanted is delivered at least once, in the order of its task, and none that was rolled back', async () => {
  const { db, bus, log, addTask, addWorker } = await makeParts()
  const targets = [target('all', notifiable), target('failures', ['task.failed'])]
  const journal = createJournal({
    db,
    bus,
    clock: systemClock,
    log,
    alongside: outboxWriter(() => targets, bus),
    onBroken: () => undefined,
  })
  const worker = await addWorker()
  const tasks = [await addTask(), await addTask(), await addTask()]
  const step = fc.record({
    task: fc.nat({ max: tasks.length - 1 }),
    picked: fc.array(fc.nat({ max: events.length - 1 }), { minLength: 1, maxLength: 3 }),
    isRolledBack: fc.boolean(),
  })
  const wanted: string[] = []
  const delivered: { target: string; message: Message }[] = []
  // What is sent may have arrived also where it looks as if it had not.
  let tries = 0
  const sender: Sender = {
    async send({ name }, message) {
      delivered.push({ target: name, message })
      return tries++ % 3 === 0 ? { delivered: false, detail: 'It cannot be reached.' } : { delivered: true, detail: 'Good.' }
    },
    learnSecrets: async () => [],
  }
  const hasty = {
    ...systemClock,
    after: (ms: number, fn: () => void) => systemClock.after(Math.min(ms, 5), fn),
    now: () => Date.now() + skew,
  }
  let skew = 0
  const delivery = createDelivery({
    db,
    journal,
    bus,
    clock: hasty,
    log,
    worker,
    targets: () => targets,
    sender,
    lastRound: false,
  })
  await delivery.start()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
      for (const { task, picked, isRolledBack } of steps) {
        const { id } = tasks[task]!
        const transacted = journal.transact('run.settle', async (_, record) => {
          for (const index of picked) record({ task: id, event: events[index]! })
          if (isRolledBack) throw new Error('rolled back')
        })
        if (isRolledBack) await expect(transacted).rejects.toThrow('rolled back')
        else {
          await transacted
          for (const index of picked) {
            const { type } = events[index]!
            if (type.startsWith('task.')) wanted.push(`all ${id} ${type}`)
            if (type === 'task.failed') wanted.push(`failures ${id} ${type}`)
          }
        }
      }
    }),
    { numRuns: 12 },
  )
  await until(async () => {
    // A try that failed waits for its time, which comes at once here.
    skew += 60_000
    return (await listOutbox(db, { limit: 1_000 })).every(({ state }) => state === 'sent')
  })
  await delivery.stop()
  await journal.stop()
  const once = new Map(
    delivered.map(({ target, message }) => [`${target} ${message.id}`, `${target} ${message.task.id} ${message.type}`]),
  )
  expect([...once.values()].sort()).toEqual(wanted.sort())
  for (const name of ['all', 'failures'])
    for (const { id } of tasks) {
      const heard = delivered
        .filter(({ target, message }) => target === name && message.task.id === id)
        .map(({ message }) => message.id)
      const rows = (await listOutbox(db, { target: name, task: id, limit: 1_000 })).map((row) => row.id).reverse()
      expect([...new Set(heard)]).toEqual(rows)
    }
})
