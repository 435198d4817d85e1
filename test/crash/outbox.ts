import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Receiver, startReceiver } from '../receiver/receiver.ts'
import { findViolations } from './check.ts'
import type { Arm } from './daemon.ts'
import { CrashHome, firedFile, pause } from './home.ts'
import { play } from './scenario.ts'

/** Tells a receiver of a task's end while everything dies at the failpoint: it must hear of it, under one id, and be told apart from nothing else. */
export async function tellThroughCrash(home: CrashHome, arm: Arm, tag: string): Promise<void> {
  // The shared homes tell nobody: this needs settings of its own.
  const fresh = new CrashHome()
  const receiver = await startReceiver()
  try {
    fresh.environment.HOOK_SECRET = 'signs-in-crash-tests-0123456789'
    const webhook = { url: receiver.url('/ok'), secret: { env: 'HOOK_SECRET' }, allowPrivate: true }
    const notifications = { ops: { webhook, events: ['task.completed'] } }
    writeFileSync(join(fresh.dir, 'config.yaml'), JSON.stringify({ notifications }))
    await fresh.start()
    const isRetry = arm.name.startsWith('outbox.retry')
    if (!isRetry) await fresh.arm(arm)
    const told = [await play(fresh, { kind: 'plain', tag })]
    await allSent(fresh)
    if (isRetry) await sendAgain(fresh, arm)
    const wrong = [...(await findViolations(fresh, told, tag)), ...heard(receiver, told[0]!.id, arm)]
    if (wrong.length > 0) throw new Error(wrong.join('\n'))
    appendFileSync(join(home.dir, firedFile), fresh.fired.map((name) => `${name}\n`).join(''))
  } finally {
    await fresh.close()
    await receiver.stop()
  }
}

/** Given up by hand, as a receiver that was away too long would have left it. */
async function sendAgain(home: CrashHome, arm: Arm): Promise<void> {
  await home.query(`update pawl.outbox set state = 'dead' where target = 'ops'`)
  await home.arm(arm)
  await home.ask((client) => client.retryNotifications({ target: 'ops' }))
  await allSent(home)
}

async function allSent(home: CrashHome): Promise<void> {
  for (let tries = 0; tries < 1_600; tries++) {
    const { items } = await home.ask((client) => client.listNotifications())
    if (items.length === 1 && items.every(({ state }) => state === 'sent')) return
    await pause(25)
  }
  throw new Error('C9: notifications were not sent within 40 s')
}

function heard({ received }: Receiver, task: string, { name, victim }: Arm): string[] {
  // Sent, and then forgotten: nobody can know that, so it is sent once more.
  if (name === 'outbox.settle.before' && victim !== 'database' && received.length < 2)
    return ['what was sent before the crash was not sent again']
  const ids = new Set(received.map(({ headers }) => headers['webhook-id']))
  const tasks = new Set(received.map(({ body }) => (JSON.parse(body) as { task: { id: string } }).task.id))
  if (ids.size === 1 && tasks.size === 1 && tasks.has(task)) return []
  return [`one end was told under ${ids.size} ids, of ${tasks.size} tasks`]
}
