import { createHmac } from 'node:crypto'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { armFailpoint } from '../../src/base/failpoint.ts'
import { silentLog } from '../../src/base/log.ts'
import { type Daemon, openRuntime } from '../../src/daemon/daemon.ts'
import type { NotificationView } from '../../src/domain/notification/notification.ts'
import { type Receiver, startReceiver } from '../receiver/receiver.ts'
import { commandAgent, eventsUntil, isResting, loadTestConfig, startEngine, until } from './home.ts'
import { by, finish, listed, makeNotificationHome, type NotificationHome } from './notification-home.ts'
import { HandClock } from './test-clock.ts'

const secret = 'a-secret-that-signs-0123456789'

describe('notifications', () => {
  let receiver: Receiver
  let home: NotificationHome
  beforeAll(async () => {
    process.env.HOOK_SECRET = secret
    receiver = await startReceiver()
    home = await makeNotificationHome()
    return async () => {
      await receiver.stop()
      await home.remove()
    }
  })
  afterEach(() => void receiver.received.splice(0))

  const webhook = (path: string, more: Record<string, unknown> = {}) => ({
    webhook: { url: receiver.url(path), secret: { env: 'HOOK_SECRET' }, allowPrivate: true },
    ...more,
  })
  /** The one notification there is, when it is in that state. */
  const reached = (daemon: Daemon, state: NotificationView['state']) =>
    until(async () => (await listed(daemon)).find((item) => item.state === state))

  it('a receiver is told of an end by a body that is signed, and hears it once', async () => {
    const daemon = await home.start({ ops: webhook('/ok') })
    const task = await finish(daemon, 'echo all fine')
    await reached(daemon, 'sent')
    const [told, ...others] = receiver.at('/ok')
    expect(others).toEqual([])
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = told!.headers
    expect(signature).toBe(`v1,${createHmac('sha256', secret).update(`${id}.${at}.${told!.body}`).digest('base64')}`)
    expect(JSON.parse(told!.body)).toMatchObject({
      id,
      type: 'task.completed',
      text: `Task ${task} is completed.`,
      data: { verified: false },
      task: {
        id: task,
        state: 'completed',
        agent: 'helper',
        prompt: 'do it',
        result: { outcome: 'succeeded', text: 'all fine' },
      },
    })
    expect((await daemon.runtime.health()).notifications).toEqual({ waiting: 0, dead: 0 })
  })

  it('a task that waits for an answer is told of with its question', async () => {
    const daemon = await home.start({ ops: webhook('/ok') })
    const { task } = await daemon.runtime.createTask({ prompt: 'look around', agent: 'demo' }, by)
    await reached(daemon, 'sent')
    const told = JSON.parse(receiver.received[0]!.body)
    const [question] = (await daemon.runtime.getTask(task.id)).questions
    expect(told).toMatchObject({
      type: 'task.blocked',
      question: { id: question!.id, text: question!.text, options: question!.options },
    })
    expect(told.text).toContain(question!.text.slice(0, 40))
  })

  it('only the events, agents and tags that a notification names are told', async () => {
    const daemon = await home.start({
      failures: webhook('/ok/failures', { events: ['task.failed'] }),
      nightly: webhook('/ok/nightly', { tags: ['nightly'] }),
      others: webhook('/ok/others', { agents: ['demo'] }),
    })
    await finish(daemon, 'echo fine')
    const tagged = await finish(daemon, 'echo fine', { tags: ['nightly'] })
    const failed = await finish(daemon, 'exit 3')
    await until(() => receiver.received.length === 2)
    expect(receiver.received.map(({ path, body }) => [path, JSON.parse(body).task.id])).toEqual([
      ['/ok/nightly', tagged],
      ['/ok/failures', failed],
    ])
  })

  it.each([
    ['/status/500', /answered with 500/],
    ['/redirect', /answered with 302, and nothing is followed/],
    ['/reset', /gave no answer/],
  ])('a receiver that answers badly (%s) is told again later, under the same id', async (path, error) => {
    const clock = new HandClock()
    const daemon = await home.start({ ops: webhook(path, { attempts: 3 }) }, { clock })
    await finish(daemon, 'echo fine')
    const first = await until(async () => (await listed(daemon)).find((item) => item.attempts === 1 && item.state === 'pending'))
    expect(first.lastError).toMatch(error)
    const waitMs = Date.parse(first.nextAt!) - clock.now()
    expect(waitMs).toBeGreaterThanOrEqual(5_000)
    expect(waitMs).toBeLessThanOrEqual(10_000)
    await passUntil(clock, async () => (await listed(daemon))[0]?.state === 'dead')
    expect(receiver.at(path).map(({ headers }) => headers['webhook-id'])).toEqual([first.id, first.id, first.id])
    expect(receiver.at('/ok')).toEqual([])
    expect((await daemon.runtime.health()).notifications).toEqual({ waiting: 0, dead: 1 })
  })

  it('a receiver that hangs is left after five seconds, and one that never stops talking after 64 KiB', async () => {
    const daemon = await home.start({ silent: webhook('/hang'), loud: webhook('/flood'), slow: webhook('/slow') })
    const startedAt = performance.now()
    await finish(daemon, 'echo fine')
    const all = await until(async () => {
      const items = await listed(daemon)
      return items.every(({ attempts, state }) => attempts === 1 && state !== 'sending') && items
    })
    expect(performance.now() - startedAt).toBeLessThan(25_000)
    expect(all.map(({ target, state, lastError }) => [target, state, lastError]).toSorted()).toEqual([
      ['loud', 'sent', null],
      ['silent', 'pending', expect.stringMatching(/gave no answer in time/)],
      ['slow', 'sent', null],
    ])
  })

  it('what was claimed and could not even be begun is sent all the same, by the process that lives', async () => {
    const daemon = await home.start({ ops: webhook('/ok') })
    armFailpoint('outbox.send', () => {
      throw new Error('not begun')
    })
    await finish(daemon, 'echo fine')
    await reached(daemon, 'sent')
    expect(receiver.received).toHaveLength(1)
  })

  it('a receiver that asks to be left alone for a while is', async () => {
    const clock = new HandClock()
    const daemon = await home.start({ ops: webhook('/busy') }, { clock })
    await finish(daemon, 'echo fine')
    const item = await until(async () =>
      (await listed(daemon)).find(({ state, attempts }) => state === 'pending' && attempts === 1),
    )
    expect(Date.parse(item.nextAt!) - clock.now()).toBe(120_000)
  })

  it('of one task a receiver hears in order, also when the first is told late', async () => {
    const clock = new HandClock()
    const daemon = await home.start({ ops: webhook('/flaky/1', { events: ['task.failed', 'task.completed'] }) }, { clock })
    const agent = commandAgent(['/bin/sh', '-c', 'test -e done || { touch done; exit 3; }'], {
      retry: { attempts: 1, baseDelayMs: 1, maxDelayMs: 1 },
    })
    const { task } = await daemon.runtime.createTask({ prompt: 'x', agentConfig: agent }, by)
    await eventsUntil(daemon, task.id, isResting)
    await daemon.runtime.retryTask(task.id, { ...by, fresh: false })
    await eventsUntil(daemon, task.id, (event) => event.type === 'task.completed')
    await passUntil(clock, async () => (await listed(daemon)).every(({ state }) => state === 'sent'))
    expect(receiver.received.map(({ body }) => JSON.parse(body).type)).toEqual([
      'task.failed',
      'task.failed',
      'task.completed',
      'task.completed',
    ])
  })

  it.each([
    ['back', -365 * 86_400_000],
    ['forward', 365 * 86_400_000],
  ])('a clock that is set %s by a year loses nothing', async (_, jump) => {
    const clock = new HandClock()
    const daemon = await home.start({ ops: webhook('/flaky/1') }, { clock })
    await finish(daemon, 'echo fine')
    await until(async () => (await listed(daemon)).find(({ state, attempts }) => state === 'pending' && attempts === 1))
    clock.jump(jump)
    await passUntil(clock, async () => (await listed(daemon))[0]?.state === 'sent')
    expect(receiver.received).toHaveLength(2)
  })

  it('what was given up can be sent again by hand, which the audit tells', async () => {
    const daemon = await home.start({ ops: webhook('/flaky/1', { attempts: 1 }) })
    await finish(daemon, 'echo fine')
    const dead = await reached(daemon, 'dead')
    expect(await daemon.runtime.retryNotifications({ id: dead.id }, by)).toEqual({ retried: [dead.id] })
    await reached(daemon, 'sent')
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([dead.id, dead.id])
    await expect(daemon.runtime.retryNotifications({ id: dead.id }, by)).rejects.toThrow(/is sent/)
    const audit = await daemon.audit.list({ limit: 5 })
    expect(audit.items.find(({ action }) => action === 'notification.retry')).toMatchObject({ subject: dead.id })
  })

  it('what one process did not send the next one of this home does', async () => {
    await home.configure({ ops: webhook('/ok', { events: ['task.cancelled'] }) })
    const looking = await openRuntime({ config: await loadTestConfig(home.path), log: silentLog })
    const { task } = await looking.runtime.createTask({ prompt: 'x', agentConfig: commandAgent(['true']) }, by)
    await looking.runtime.cancelTask(task.id, { ...by, now: true })
    expect(await listed(looking)).toMatchObject([{ task: task.id, event: 'task.cancelled', state: 'pending' }])
    await looking.stop()
    expect(receiver.received).toEqual([])
    const daemon = await home.start({ ops: webhook('/ok') })
    await reached(daemon, 'sent')
    expect(receiver.received.map(({ body }) => JSON.parse(body).task.id)).toEqual([task.id])
  })

  it('two processes on one database tell it once', async () => {
    const daemon = await home.start({ ops: webhook('/slow') })
    const other = await startEngine(home.path)
    try {
      await Promise.all(Array.from({ length: 6 }, () => finish(daemon, 'echo fine')))
      await until(async () => (await listed(daemon)).filter(({ state }) => state === 'sent').length === 6)
      expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(6)
      expect(receiver.received).toHaveLength(6)
    } finally {
      await other.stop()
    }
  })

  it('a process that runs one task tells of it before it leaves', async () => {
    const daemon = await home.start({ ops: webhook('/slow') }, { serveShared: false })
    await finish(daemon, 'echo fine')
    await daemon.stop()
    expect(receiver.at('/slow')).toHaveLength(1)
  })

  it('a secret that agents have heard of is not told to receivers', async () => {
    const daemon = await home.start({ ops: webhook('/ok') })
    await finish(daemon, `echo the secret is ${secret}`)
    await reached(daemon, 'sent')
    expect(receiver.received[0]!.body).not.toContain(secret)
    expect(receiver.received[0]!.body).toContain('[redacted:')
  })

  it('a made-up one can be sent, and says what came of it', async () => {
    const daemon = await home.start({ good: webhook('/ok'), bad: webhook('/status/404') })
    expect(await daemon.runtime.testNotification('good', by)).toMatchObject({ delivered: true })
    expect(await daemon.runtime.testNotification('bad', by)).toMatchObject({
      delivered: false,
      detail: `127.0.0.1:${receiver.port} answered with 404.`,
    })
    await expect(daemon.runtime.testNotification('god', by)).rejects.toThrow(/There is no notification "god".*good/)
    expect(await listed(daemon)).toEqual([])
  })

  /** Time goes by in steps until it holds. */
  async function passUntil(clock: HandClock, holds: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + 15_000
    while (!(await holds())) {
      if (performance.now() > deadline) throw new Error('it never came to hold')
      clock.advance(2_500)
      await new Promise((again) => setTimeout(again, 5))
    }
  }
})
