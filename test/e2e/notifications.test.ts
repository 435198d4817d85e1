import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NotificationView } from '../../src/domain/notification/notification.ts'
import { makeHome } from '../engine/ready-database.ts'
import { until } from '../engine/until.ts'
import { type Receiver, startReceiver } from '../receiver/receiver.ts'
import { json, pawl, serve } from './pawl.ts'

const env = { HOOK_SECRET: 'signs-what-is-sent-0123456789' }

describe('notifications on the command line', () => {
  let home: Awaited<ReturnType<typeof makeHome>>
  let receiver: Receiver
  beforeAll(async () => {
    home = await makeHome()
    receiver = await startReceiver()
    const webhook = (path: string) => ({
      webhook: { url: receiver.url(path), secret: { env: 'HOOK_SECRET' }, allowPrivate: true },
    })
    const agents = { helper: { adapter: 'custom', command: ['/bin/sh', '-c', 'exit 3'], retries: 0 } }
    const notifications = { ops: webhook('/ok'), flaky: { ...webhook('/flaky/1'), attempts: 1 } }
    await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ agents, notifications }))
  })
  afterAll(async () => {
    await pawl(home.path, ['stop'], { env })
    await receiver.stop()
    await home.remove()
  })

  it('a task that fails is told of before "pawl run" leaves, listed, sent again by the daemon and shown with the task', {
    timeout: 120_000,
  }, async () => {
    expect((await pawl(home.path, ['run', '--scratch', '--agent', 'helper', 'go'], { env })).code).toBe(1)
    expect(receiver.received.map(({ path }) => path).sort()).toEqual(['/flaky/1', '/ok'])
    const list = async () =>
      json<{ items: NotificationView[] }>(await pawl(home.path, ['notifications', 'ls', '--json'], { env })).items
    const dead = (await list()).find(({ state }) => state === 'dead')
    expect(dead).toMatchObject({ target: 'flaky', event: 'task.failed', attempts: 1 })

    const daemon = await serve(home.path, { env })
    const retried = await pawl(home.path, ['notifications', 'retry', dead!.id], { env })
    expect(retried.stdout).toBe('One notification is sent again.\n')
    await until(async () => (await list()).every(({ state }) => state === 'sent'))
    expect((await pawl(home.path, ['show', 'last'], { env })).stdout).toMatch(/^told {7}flaky of task\.failed: sent$/m)
    const tried = await pawl(home.path, ['notifications', 'test', 'ops'], { env })
    expect([tried.code, tried.stdout]).toEqual([0, expect.stringMatching(/^Delivered in \d+ ms/)])
    expect((await pawl(home.path, ['notifications', 'test', 'nobody'], { env })).stderr).toMatch(/there are ops, flaky/)
    const doctor = json<{ rows: { name: string; level: string }[] }>(await pawl(home.path, ['doctor', '--json'], { env }))
    expect(doctor.rows.filter(({ name }) => name.startsWith('notification'))).toMatchObject([
      { name: 'notification ops', level: 'ok' },
      { name: 'notification flaky', level: 'ok' },
    ])
    expect((await pawl(home.path, ['stop'], { env })).code).toBe(0)
    await daemon.ended
  })
})
