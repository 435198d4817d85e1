import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findDaemon } from '../../src/daemon/machine/run-file.ts'
import { PawlError } from '../../src/domain/error.ts'
import { type Receiver, startReceiver } from '../receiver/receiver.ts'
import { findViolations } from './check.ts'
import type { Arm } from './daemon.ts'
import { CrashHome, firedFile, pause } from './home.ts'
import { create, play } from './scenario.ts'

/**
 * A client of A2A asks to be told of a task by push notification while everything dies at the failpoint. Once that is confirmed, every update that is stored must reach it, under
 * one id each, and in order; what it has taken back is told no more.
 */
export async function listenThroughCrash(home: CrashHome, arm: Arm, tag: string): Promise<void> {
  // The shared homes may not speak to this machine: this needs settings of its own.
  const fresh = new CrashHome()
  const receiver = await startReceiver()
  try {
    writeFileSync(join(fresh.dir, 'config.yaml'), JSON.stringify({ a2a: { push: { allowPrivate: true } } }))
    await fresh.start()
    const made = await create(fresh, { kind: 'ask', tag })
    await untilBlocked(fresh, made.id)
    const config = (id: string) => ({ taskId: made.id, id, url: receiver.url(`/ok/${id}`), token: `token-of-${id}-0123456789` })
    await call(fresh, 'CreateTaskPushNotificationConfig', config('gone'))
    if (arm.name.startsWith('listener.remove')) await fresh.arm(arm)
    await call(fresh, 'DeleteTaskPushNotificationConfig', { taskId: made.id, id: 'gone' })
    if (arm.name.startsWith('listener.set')) await fresh.arm(arm)
    await call(fresh, 'CreateTaskPushNotificationConfig', config('kept'))
    if (/^listener\.sen[dt]$/.test(arm.name)) await fresh.arm(arm)
    // The same request again finds the task, answers its question and waits for its end.
    const told = [await play(fresh, { kind: 'ask', tag })]
    await allSent(fresh)
    const wrong = [...(await findViolations(fresh, told, tag)), ...(await heard(fresh, receiver, made.id, arm))]
    if (wrong.length > 0) throw new Error(wrong.join('\n'))
    appendFileSync(join(home.dir, firedFile), fresh.fired.map((name) => `${name}\n`).join(''))
  } finally {
    await fresh.close()
    await receiver.stop()
  }
}

/** Again and again until it is confirmed. */
async function call(home: CrashHome, method: string, params: object): Promise<void> {
  await home.ask(async () => {
    await home.settled()
    const daemon = await findDaemon(home.dir)
    if (!daemon) throw new PawlError('unavailable', 'no daemon')
    const response = await fetch(`${daemon.url}/a2a`, {
      method: 'POST',
      headers: { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    }).catch((error: unknown) => {
      throw new PawlError('unavailable', 'the daemon is away', { cause: error })
    })
    const answer = (await response.json()) as { error?: { code: number; message: string } }
    if (response.status === 503 || answer.error?.message.includes('Try again')) throw new PawlError('unavailable', 'not yet')
    if (answer.error) throw new Error(`${method} was refused: ${JSON.stringify(answer.error)}`)
  })
}

async function untilBlocked(home: CrashHome, task: string): Promise<void> {
  for (let tries = 0; (await home.ask((client) => client.getTask(task))).state !== 'blocked'; tries++) {
    if (tries > 1_600) throw new Error(`C9: task ${task} does not ask`)
    await pause(25)
  }
}

async function allSent(home: CrashHome): Promise<void> {
  for (let tries = 0; tries < 1_600; tries++) {
    const { items } = await home.ask((client) => client.listNotifications())
    if (items.some(({ event }) => event === 'task.completed') && items.every(({ state }) => state === 'sent')) return
    await pause(25)
  }
  throw new Error('C9: push notifications were not sent within 40 s')
}

async function heard(home: CrashHome, { received }: Receiver, task: string, { name, victim }: Arm): Promise<string[]> {
  const wrong: string[] = []
  const kept = received.filter(({ path }) => path === '/ok/kept')
  const [entry] = await home.query<{ count: string }>(
    `select count(*) from pawl.outbox where task_id = '${task}' and state = 'sent'`,
  )
  const ids = [...new Set(kept.map(({ headers }) => headers['webhook-id']!))]
  const told = new Set(ids.map((id) => id.replace(/\.\d+$/, '')))
  if (told.size !== Number(entry?.count)) wrong.push(`${entry?.count} updates were stored, and ${told.size} were told`)
  const states = ids.map((id) => stateOf(kept.find(({ headers }) => headers['webhook-id'] === id)!.body))
  if (states.filter((state) => state === 'TASK_STATE_COMPLETED').length !== 1 || states.at(-1) !== 'TASK_STATE_COMPLETED')
    wrong.push(`the end was not told once and last: ${states.join(', ')}`)
  if (kept.some(({ headers }) => headers['x-a2a-notification-token'] !== 'token-of-kept-0123456789'))
    wrong.push('something was told without the token of the client')
  // Sent, and then forgotten: nobody can know that, so it is sent once more.
  if (name === 'listener.sent' && victim !== 'database' && kept.length <= ids.length)
    wrong.push('what was sent before the crash was not sent again')
  if (received.some(({ path }) => path === '/ok/gone')) wrong.push('what was taken back was told all the same')
  return wrong
}

function stateOf(body: string): string {
  const said = JSON.parse(body) as { statusUpdate?: { status: { state: string } } }
  return said.statusUpdate?.status.state ?? 'artifact'
}
