import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import { builtinProfiles } from '../../src/domain/profile/builtin.ts'
import { json, pawl } from '../e2e/pawl.ts'
import { startPageServer } from './page-server.ts'
import { startPushService } from './push-service.ts'
import { expectAccessible, type Stage, script, startStage } from './stage.ts'

let stage: Stage
let service: Awaited<ReturnType<typeof startPushService>>
beforeAll(async () => {
  service = await startPushService()
  stage = await startStage('push: { contact: "mailto:ops@example.com", allowPrivate: true }\n')
}, 60_000)
afterAll(async () => {
  await stage.stop()
  await service.stop()
})

const ask = (text: string, ...options: string[]) => script({ ask: { text, options } }, { speak: 'Thank you.' })
const add = async (prompt: string, more: Record<string, unknown> = {}) =>
  (await stage.client.createTask({ prompt, name: 'a task', agent: 'fake', workspace: stage.workspace, ...more })).task
const blocked = (id: string) =>
  expect.poll(async () => (await stage.client.getTask(id)).state, { timeout: 20_000 }).toBe('blocked')
const answerOf = async (id: string) => (await stage.client.getTask(id)).questions[0]?.answer

describe('the inbox', () => {
  test('goes from question to question by keyboard, the next one has the focus, and what was decided stays below', async () => {
    const asked = async (text: string) => {
      const task = await add(ask(text, 'Red', 'Blue'))
      await blocked(task.id)
      return task
    }
    const first = await asked('First colour?')
    const second = await asked('Second colour?')
    const third = await asked('Third colour?')
    const tab = await stage.open('/inbox')
    const { page } = tab
    await page.getByText('Third colour?').waitFor()
    await page.keyboard.press('j')
    await expect.poll(() => page.locator('article[aria-current]').textContent()).toContain('Second colour?')
    await page.keyboard.press('2')
    await expect.poll(() => answerOf(second.id)).toBe('Blue')
    // The next one has the focus, and its key counts at once.
    await expect.poll(() => page.locator('article:focus').textContent()).toContain('Third colour?')
    await page.keyboard.press('k')
    await expect.poll(() => page.locator('article:focus').textContent()).toContain('First colour?')
    await page.keyboard.press('r')
    await page.locator('textarea:focus, input:focus').waitFor()
    await page.keyboard.type('Green, please')
    await page.keyboard.press('Control+Enter')
    await expect.poll(() => answerOf(first.id)).toBe('Green, please')
    await expect.poll(() => page.locator('article:focus').textContent()).toContain('Third colour?')
    await page.keyboard.press('1')
    await expect.poll(() => answerOf(third.id)).toBe('Red')
    await page.getByText('No question waits.').waitFor()
    const today = page.getByRole('region', { name: 'Today' })
    await today.getByText('Green, please').waitFor()
    expect(await today.getByRole('listitem').count()).toBe(3)
    await expectAccessible(page)
    expect(tab.wrong).toEqual([])
    await tab.close()
  }, 60_000)

  test('shows exactly what a permission is asked for, until when, and what happens then', async () => {
    const input = { command: 'git push origin main', description: 'publishes it' }
    const agentConfig = ResolvedAgent.parse({
      ...{ name: 'helper', adapter: 'claude-code', profile: 'mine' },
      options: { command: resolve(import.meta.dirname, '../fake-agent/fake-claude.js') },
      rights: { ...builtinProfiles.guarded, name: 'mine', rules: { allow: [], ask: ['Bash(git push:*)'], deny: [] } },
      env: { pass: [], set: { ANTHROPIC_API_KEY: 'key-of-the-page-tests-0123456789' } },
    })
    const { task } = await stage.client.createTask({
      prompt: JSON.stringify([{ use: { id: 'c', name: 'Bash', input } }, { say: 'went on' }]),
      agentConfig,
      questions: { deadlineMs: 3_600_000, afterDeadline: { kind: 'deny' } },
    })
    await blocked(task.id)
    const tab = await stage.open('/inbox')
    const { page } = tab
    await page.getByText('What Bash would be given, word for word').waitFor()
    await page.locator('pre', { hasText: /^git push origin main$/ }).waitFor()
    await page.locator('pre', { hasText: '"description": "publishes it"' }).waitFor()
    await page.getByText(/answer within.*then it counts as no/).waitFor()
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [360, 'light'],
      [1280, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme })
      await expectAccessible(page)
      expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
    }
    await page.getByRole('button', { name: 'Deny' }).click()
    await expect.poll(() => answerOf(task.id)).toBe('Deny')
    expect(tab.wrong).toEqual([])
    await tab.close()
  }, 60_000)
})

describe('a browser that is told', () => {
  test('is switched on and off in the inbox, and chooses what it hears of', async () => {
    const tab = await stage.open('/inbox')
    const { page, context } = tab
    await context.grantPermissions(['notifications'], { origin: new URL(page.url()).origin })
    // A browser without a vendor's push service behind it subscribes nowhere: what it would answer is the one thing that is not its own here.
    const { endpoint, keys } = service.subscription('/page')
    await page.addInitScript(
      ({ endpoint, keys }) => {
        let current: object | null = null
        const prototype = (globalThis as unknown as { PushManager: { prototype: Record<string, unknown> } }).PushManager.prototype
        prototype.getSubscription = async () => current
        prototype.subscribe = async (options: { applicationServerKey: string }) => {
          const text = atob(options.applicationServerKey.replaceAll('-', '+').replaceAll('_', '/'))
          const applicationServerKey = Uint8Array.from(text, (sign) => sign.charCodeAt(0)).buffer
          current = {
            options: { applicationServerKey },
            toJSON: () => ({ endpoint, keys }),
            unsubscribe: async () => {
              current = null
              return true
            },
          }
          return current
        }
      },
      { endpoint, keys },
    )
    await page.reload()
    await page.getByRole('button', { name: 'Tell this browser' }).click()
    const events = page.getByRole('group', { name: 'This browser is told of' })
    await events.waitFor()
    const [push] = (await stage.client.getPush()).items
    expect(push).toMatchObject({ label: expect.stringContaining('on Linux'), service: new URL(service.origin).host })
    const before = service.pushed.length
    await page.getByRole('button', { name: 'Send a test' }).click()
    await expect.poll(() => service.pushed.length, { timeout: 20_000 }).toBe(before + 1)
    await page.getByRole('status').filter({ hasText: /./ }).first().waitFor()
    await events.getByLabel('a failure', { exact: true }).click()
    await expect
      .poll(async () => (await stage.client.getPush()).items[0]?.events.includes('task.failed'), { timeout: 20_000 })
      .toBe(false)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Tell this browser nothing more' }).click()
    await page.getByRole('button', { name: 'Tell this browser', exact: true }).waitFor()
    await expect.poll(async () => (await stage.client.getPush()).items, { timeout: 20_000 }).toEqual([])
    expect(tab.wrong).toEqual([])
    service.pushed.length = 0
    await tab.close()
  }, 60_000)

  test('hears of what it asked for, encrypted for it alone, until it is gone or its sign-in ends', async () => {
    const { publicKey, items } = await stage.client.getPush()
    expect(items).toEqual([])
    expect((await stat(join(stage.home, 'push-key.pem'))).mode & 0o777).toBe(0o600)
    const push = await stage.client.subscribePush({ ...service.subscription('/one'), label: 'Firefox on Linux' })
    expect(push).toMatchObject({ label: 'Firefox on Linux', service: new URL(service.origin).host })
    expect(JSON.stringify(await stage.client.getPush())).not.toContain('/one')
    expect(await stage.client.testPush(push.id)).toMatchObject({ delivered: true })
    expect(service.pushed[0]).toMatchObject({
      payload: { path: '/inbox' },
      claims: { aud: service.origin, sub: 'mailto:ops@example.com' },
    })
    expect(service.pushed[0]?.headers).toMatchObject({ 'content-encoding': 'aes128gcm', ttl: '86400' })

    const task = await add(ask('Which colour?', 'Red', 'Blue'))
    await expect.poll(() => service.pushed.length, { timeout: 20_000 }).toBe(2)
    expect(service.pushed[1]?.payload).toMatchObject({ title: 'a task asks', body: 'Which colour?', path: `/tasks/${task.id}` })
    expect(service.pushed[1]?.headers).toMatchObject({ urgency: 'high' })
    const listed = json<{ items: { target: string; kind: string; state: string }[] }>(
      await pawl(stage.home, ['notifications', 'ls', '--json']),
    )
    expect(listed.items).toMatchObject([{ target: push.target, kind: 'push', state: 'sent' }])
    // Only what it wants to hear of: it was not asked about ends that are good.
    await stage.client.answerQuestion((await stage.client.getTask(task.id)).questions[0]!.id, 'Red')
    await expect.poll(async () => (await stage.client.getTask(task.id)).state, { timeout: 20_000 }).toBe('completed')
    expect(service.pushed).toHaveLength(2)

    // Whoever is not its owner cannot so much as see it.
    await stage.client.createUser({ name: 'olga', role: 'viewer' })
    const { token, id: tokenId } = await stage.client.createToken({ user: 'olga', kind: 'user' })
    const olga = stage.clientOf(token)
    expect((await olga.getPush()).items).toEqual([])
    await expect(olga.removePush(push.id)).rejects.toThrow(/no browser/)
    const hers = await olga.subscribePush(service.subscription('/olga'))
    expect(hers.user).toBe('olga')
    const failing = await add(script({ exit: 3 }), { retry: { attempts: 1 } })
    await expect.poll(() => service.pushed.length, { timeout: 20_000 }).toBe(4)
    // What went wrong in full is for operators.
    const bodies = service.pushed.slice(2).map(({ payload }) => payload.body)
    expect(bodies.filter((body) => body === `Look at ${failing.id}.`)).toHaveLength(1)
    olga.close()
    await stage.client.revokeToken(tokenId)
    await stage.restart()
    expect((await stage.client.getPush()).publicKey).toBe(publicKey)

    // A push service that says so ends it, and what was not told goes with it.
    service.answers(410)
    await add(script({ exit: 3 }), { retry: { attempts: 1 } })
    await expect.poll(async () => (await stage.client.getPush()).items, { timeout: 20_000 }).toEqual([])
    expect(service.pushed).toHaveLength(5)
    expect(await pawl(stage.home, ['notifications', 'browsers'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('None'),
    })
    service.answers(201)
  }, 90_000)

  test('is never one inside a private network unless the settings say so, nor anything but a push service', async () => {
    const { keys } = service.subscription('/x')
    for (const [push, why] of [
      [{ endpoint: 'ftp://example.com/x', keys }, /push service/],
      [{ endpoint: 'https://user:pass@example.com/x', keys }, /user name/],
      [{ endpoint: 'https://example.com/x', keys: { ...keys, auth: 'AAAA' } }, /16 bytes/],
    ] as const)
      await expect(stage.client.subscribePush(push)).rejects.toThrow(why)
    // Metadata services are out of reach whatever the settings say.
    const { id } = await stage.client.subscribePush({ endpoint: 'http://169.254.169.254/latest', keys })
    expect(await stage.client.testPush(id)).toMatchObject({
      delivered: false,
      detail: expect.stringContaining('nothing of Pawl may reach'),
    })
    await stage.client.removePush(id)
  })

  test('words are made into tasks only by an agent that the settings name', async () => {
    await expect(stage.client.elaborateTask({ text: 'do it' })).rejects.toThrow(/elaborate: \{ agent: NAME \}/)
  })
})

const keptIn = (page: Page) =>
  page.evaluate<{ names: string[]; paths: string[] }>(`(async () => {
    const names = await caches.keys()
    const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()))
    return { names, paths: requests.flat().map(({ url }) => new URL(url).pathname) }
  })()`)

describe('the kept page', () => {
  test('shows what is pushed, and a click opens the task', async () => {
    const tab = await stage.open('/inbox')
    const { page, context } = tab
    const origin = new URL(page.url()).origin
    await context.grantPermissions(['notifications'], { origin })
    await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)')
    const worker = context.serviceWorkers()[0]!
    const cdp = await context.newCDPSession(page)
    const registered = new Promise<string>((found) => {
      cdp.on(
        'ServiceWorker.workerRegistrationUpdated',
        ({ registrations }) => registrations[0] && found(registrations[0].registrationId),
      )
    })
    await cdp.send('ServiceWorker.enable')
    const data = JSON.stringify({ title: 'a task asks', body: 'Which colour?', tag: 't', path: '/agents' })
    await cdp.send('ServiceWorker.deliverPushMessage', { origin, registrationId: await registered, data })
    const shown = () =>
      worker.evaluate('registration.getNotifications().then((all) => all.map(({ title, body }) => ({ title, body })))')
    await expect.poll(shown).toEqual([{ title: 'a task asks', body: 'Which colour?' }])
    await worker.evaluate(
      "registration.getNotifications().then(([notification]) => void dispatchEvent(new NotificationEvent('notificationclick', { notification })))",
    )
    await page.waitForURL(`${origin}/agents`)
    expect(await shown()).toEqual([])
    expect(tab.wrong).toEqual([])
    await tab.close()
  }, 30_000)

  test('opens while the daemon is away and says so, keeps no answer of it, and goes on when it is back', async () => {
    const tab = await stage.open('/tasks')
    const { page } = tab
    await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)')
    await expect.poll(() => page.evaluate('navigator.serviceWorker.controller !== null')).toBe(true)
    await stage.away(async () => {
      await page.reload()
      await page.getByRole('heading', { name: 'Pawl does not answer.' }).waitFor()
      await expectAccessible(page)
      const kept = await keptIn(page)
      expect(kept.names).toHaveLength(1)
      expect(kept.paths).toContain('/')
      expect(kept.paths.filter((path) => path.startsWith('/api'))).toEqual([])
    })
    await page.getByRole('heading', { name: 'Tasks' }).waitFor({ timeout: 20_000 })
    expect(tab.wrong).toEqual([])
    await tab.close()
  }, 60_000)

  test('is the new one at once when the daemon has a new one, and the old one is not kept', async () => {
    const upgraded = await startPageServer()
    const tab = await stage.open('/')
    const { page } = tab
    await page.goto(upgraded.url)
    await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)')
    await expect.poll(() => page.evaluate('navigator.serviceWorker.controller !== null')).toBe(true)
    const [before] = (await keptIn(page)).names
    upgraded.upgrade()
    await page.reload()
    expect(await page.title()).toBe('Pawl, newer')
    await expect.poll(async () => (await keptIn(page)).names, { timeout: 30_000 }).not.toContain(before)
    await upgraded.stop()
    await page.reload()
    expect(await page.title()).toBe('Pawl, newer')
    await tab.close()
  }, 60_000)

  test('can be installed: its manifest names icons that are there, in the size that it says', async () => {
    const tab = await stage.open('/')
    const { page } = tab
    const sizes = await page.evaluate<{ said: string; is: string }[]>(`(async () => {
      const { icons } = await (await fetch('/manifest.webmanifest')).json()
      const drawn = icons.filter(({ src }) => src.endsWith('.png'))
      return Promise.all(drawn.map(async ({ src, sizes }) => {
        const { width, height } = await createImageBitmap(await (await fetch(src)).blob())
        return { said: sizes, is: width + 'x' + height }
      }))
    })()`)
    expect(sizes.map(({ is }) => is)).toEqual(sizes.map(({ said }) => said))
    expect(sizes.length).toBeGreaterThan(1)
    const { installabilityErrors } = await (await tab.context.newCDPSession(page)).send('Page.getInstallabilityErrors')
    expect(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')).toEqual([])
    await tab.close()
  })
})
