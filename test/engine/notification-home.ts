import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { type Daemon, type DaemonOptions, openRuntime } from '../../src/daemon/daemon.ts'
import type { NotificationView } from '../../src/domain/notification/notification.ts'
import { connectionTo } from '../../src/store/embedded/holder.ts'
import { layoutOf } from '../../src/store/embedded/layout.ts'
import { commandAgent, eventsUntil, isResting, loadTestConfig, makeHome, startEngine } from './home.ts'

export const by = { by: 'test' }

/** A home whose database stays while engines with other notifications come and go. Each test finds its outbox empty. */
export async function makeNotificationHome() {
  const home = await makeHome()
  const keeper = await openRuntime({ config: await loadTestConfig(home.path), log: silentLog })
  const clean = async () => {
    const client = new pg.Client(connectionTo(layoutOf(home.path)))
    await client.connect()
    await client.query('truncate pawl.outbox')
    await client.end()
  }
  const configure = (notifications: Record<string, unknown>) =>
    writeFile(join(home.path, 'config.yaml'), JSON.stringify({ notifications }))
  return {
    path: home.path,
    configure,
    /** An engine with these notifications, until the test ends. */
    async start(notifications: Record<string, unknown>, options: Partial<DaemonOptions> = {}): Promise<Daemon> {
      await configure(notifications)
      const daemon = await startEngine(home.path, options)
      onTestFinished(async () => {
        await daemon.stop()
        await clean()
      })
      return daemon
    },
    async remove() {
      await keeper.stop()
      await home.remove()
    },
  }
}
export type NotificationHome = Awaited<ReturnType<typeof makeNotificationHome>>

/** Runs a task to where it rests; answers its id. */
export async function finish(
  daemon: Daemon,
  script: string,
  more: { tags?: string[]; workspace?: string } = {},
): Promise<string> {
  const agent = commandAgent(['/bin/sh', '-c', script], { retry: { attempts: 1, baseDelayMs: 1, maxDelayMs: 1 } })
  const { task } = await daemon.runtime.createTask({ prompt: 'do it', agentConfig: agent, ...more }, by)
  await eventsUntil(daemon, task.id, isResting)
  return task.id
}

export const listed = async (daemon: Daemon): Promise<NotificationView[]> => (await daemon.runtime.listNotifications({})).items
