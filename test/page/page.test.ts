import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { json, pawl } from '../e2e/pawl.ts'
import { screenPaths } from './screen-paths.ts'
import { expectAccessible, expectFitsEverywhere, type Stage, script, startStage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
}, 60_000)
afterAll(() => stage.stop())

const question = { ask: { text: 'Which colour?', options: ['Red', 'Blue'] } }
const add = async (prompt: string, more: Record<string, unknown> = {}) =>
  (await stage.client.createTask({ prompt, name: 'a task', agent: 'fake', workspace: stage.workspace, ...more })).task

describe('the page', () => {
  /** A screen that goes on asking without its cookie would use up what strangers may try. */
  const forget = async ({ page, context }: Awaited<ReturnType<Stage['open']>>) => {
    await page.goto('about:blank')
    await context.clearCookies()
  }

  test('shows a stranger how to sign in, and nothing else', async () => {
    const tab = await stage.open()
    await forget(tab)
    await tab.go('/')
    await tab.page.getByText('This browser is not signed in.').waitFor()
    await expectAccessible(tab.page)
    await tab.close()
  })

  test('signs in by a one-time code and keeps it out of the address', async () => {
    const tab = await stage.open()
    await forget(tab)
    const { url } = json<{ url: string }>(await pawl(stage.home, ['open', '--print', '--json']))
    expect(url).toContain('code')
    await tab.page.goto(url)
    await tab.page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    expect(tab.page.url()).not.toContain('code')
    expect(tab.wrong).toEqual([])

    // As on a phone: no cookie, the address that "pawl sign-in" printed, and its button.
    await forget(tab)
    const { path } = await stage.client.createSignInCode()
    await tab.go(path)
    await expectAccessible(tab.page)
    await tab.page.getByRole('button', { name: 'Sign in' }).click()
    await tab.page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    expect(tab.page.url()).not.toContain('code')
    await tab.close()
  })

  test('an address that is not for this browser, or that does not exist, is a page of its own; a program gets a problem', async () => {
    const tab = await stage.open('/nowhere')
    const { page } = tab
    await page.getByRole('heading', { name: 'There is no such screen.' }).waitFor()
    await expectAccessible(page)
    // An API that refuses says so in words, with the way back.
    await tab.go('/api/v1/tasks/t_1m7hb3qaj340h1e843')
    await page.getByText(/There is no task/).waitFor()
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Go to what needs you now' }).click()
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    const { origin } = new URL(page.url())
    const asked = await fetch(`${origin}/nowhere`, { headers: { accept: '*/*' } })
    expect([asked.status, asked.headers.get('content-type')]).toEqual([401, 'application/problem+json'])

    // A link on a page of somebody else: nothing is shown until a person goes on from ours.
    await page.route('https://elsewhere.example/', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<a href="${origin}/tasks?state=failed">look</a>` }),
    )
    await page.goto('https://elsewhere.example/')
    await page.getByRole('link', { name: 'look' }).click()
    await page.getByRole('link', { name: 'Open /tasks all the same' }).click()
    await page.getByRole('heading', { name: 'Tasks' }).waitFor()
    expect(new URL(page.url()).search).toContain('failed')

    // Who is not signed in is asked to, and comes to where they wanted to go.
    await forget(tab)
    await tab.go('/docs')
    await page.getByText('This browser is not signed in.').waitFor()
    const { code } = await stage.client.createSignInCode()
    await page.getByLabel('Code').fill(code)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'The API' }).waitFor()
    await tab.close()
  }, 60_000)

  test('the page of the API can be read at a desk, by day and by night, and on a phone', async () => {
    // Opened by its address, as from a bookmark.
    const tab = await stage.open('/docs')
    const { page } = tab
    const operation = page.locator('[id="post-/api/v1/tasks"]')
    await operation.locator('summary').click()
    await operation.getByText('Durable when it is answered.').waitFor()
    await expectFitsEverywhere(page)
    expect(tab.wrong).toEqual([])
    await tab.close()
  }, 90_000)

  test('shows a question within moments of its being asked, and one click answers it', async () => {
    const tab = await stage.open()
    await tab.page.getByText('Nothing needs you.').waitFor()
    const task = await add(script(question, { speak: 'Thank you.' }))
    await tab.page.getByRole('button', { name: 'Blue' }).click()
    await tab.page.getByText('Nothing needs you.').waitFor()
    await expect.poll(async () => (await stage.client.getTask(task.id)).questions[0]?.answer).toBe('Blue')
    expect(tab.wrong).toEqual([])
    await tab.close()
  })

  test('needs no mouse: a task is written, started, answered in the inbox, and accepted', async () => {
    const tab = await stage.open()
    const { page } = tab
    const { keyboard } = page
    const tabTo = async (field: Locator) => {
      for (let n = 0; n < 60 && !(await field.evaluate((found) => found === document.activeElement)); n++)
        await keyboard.press('Tab')
    }
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    await keyboard.press('g')
    await keyboard.press('w')
    await page.getByRole('heading', { name: 'New task' }).waitFor()
    await tabTo(page.getByLabel('What is to be done'))
    await keyboard.insertText(script(question, { speak: 'Thank you.' }))
    await tabTo(page.getByLabel(/^Workspace/))
    await keyboard.type(stage.workspace)
    await tabTo(page.getByText('Proof and review'))
    await keyboard.press('Enter')
    await tabTo(page.getByLabel('I look at the work'))
    await keyboard.press('Space')
    await keyboard.press('Control+Enter')
    await page.waitForURL(/\/tasks\/t_/)
    const id = new URL(page.url()).pathname.split('/').at(-1)!
    const stateOf = async () => (await stage.client.getTask(id)).state
    await expect.poll(stateOf, { timeout: 20_000 }).toBe('blocked')
    await keyboard.press('g')
    await keyboard.press('i')
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    await page.getByRole('article', { name: 'Which colour?' }).waitFor()
    await keyboard.press('1')
    await expect.poll(async () => (await stage.client.getTask(id)).questions[0]?.answer).toBe('Red')
    await expect.poll(stateOf, { timeout: 20_000 }).toBe('review')
    await keyboard.press('g')
    await keyboard.press('n')
    const link = page.getByRole('link', { name: /Which colour/ }).first()
    await link.waitFor()
    // It moves while the page hears of the review, and what had the focus may be gone.
    await expect
      .poll(
        async () => {
          await tabTo(link)
          await keyboard.press('Enter')
          return page.url()
        },
        { timeout: 20_000 },
      )
      .toContain(id)
    await page.getByRole('button', { name: 'Accept' }).waitFor()
    await keyboard.press('a')
    await expect.poll(stateOf).toBe('completed')
    expect(tab.wrong).toEqual([])
    await tab.close()
  }, 60_000)

  test('follows a task live, in two tabs alike, and loses nothing when the daemon restarts', async () => {
    const task = await add(script({ speak: 'first words' }, question, { speak: 'last words' }))
    const tabs = [await stage.open(`/tasks/${task.id}`), await stage.open(`/tasks/${task.id}`)]
    for (const { page } of tabs) await page.getByText('first words').first().waitFor()
    await stage.restart()
    await tabs[0]!.page.getByRole('button', { name: 'Blue' }).click()
    for (const { page } of tabs) {
      await page
        .getByText(/completed/)
        .first()
        .waitFor()
      // Each run of it begins with them; without the rest, both are in sight.
      await page.getByRole('button', { name: 'Messages' }).click()
      await expect.poll(() => page.getByRole('log').getByText('first words').count(), { timeout: 10_000 }).toBe(2)
      await page.getByText('live', { exact: true }).waitFor()
    }
    for (const tab of tabs) await tab.close()
  }, 60_000)

  test('makes a task from what is written, and says at once what would be refused', async () => {
    const tab = await stage.open('/new')
    await tab.page.getByLabel('What is to be done').fill(script({ speak: 'made from the page' }))
    await tab.page.getByRole('combobox', { name: /^Agent/ }).selectOption('fake')
    await tab.page.getByLabel('Workspace').fill('not-absolute')
    await tab.page
      .getByRole('alert')
      .getByText(/absolute/)
      .waitFor()
    await tab.page.getByLabel('Workspace').fill(stage.workspace)
    await tab.page.getByLabel('Name').fill('from the page')
    await tab.page.getByRole('alert').waitFor({ state: 'detached' })
    await tab.page.getByRole('button', { name: 'Start' }).click()
    await tab.page.getByRole('heading', { name: 'from the page' }).waitFor()
    await tab.page.getByText('made from the page').first().waitFor()
    expect(tab.wrong).toEqual([])
    await tab.close()
  })

  test('runs, pauses and removes a schedule, whose failures stand on the first screen', async () => {
    const { id } = await stage.client.createSchedule({
      name: 'nightly',
      when: { kind: 'every', everyMs: 3_600_000 },
      task: { prompt: script({ exit: 3 }), agent: 'fake', workspace: stage.workspace, retry: { attempts: 1 } },
      ...{ session: 'new', overlap: 'skip', catchUp: 'one', jitterMs: 0 },
    })
    const tab = await stage.open('/schedules')
    await tab.page.getByRole('heading', { name: 'nightly' }).waitFor()
    await tab.page.getByRole('button', { name: 'Run now' }).click()
    await expect.poll(async () => (await stage.client.getSchedule(id)).health.failedInARow, { timeout: 20_000 }).toBe(1)
    await tab.go('/')
    await tab.page.getByText(/The schedule nightly has failed 1 times? in a row/).waitFor()
    await tab.go('/schedules')
    await tab.page.getByRole('button', { name: 'Pause' }).click()
    await tab.page.getByText('paused', { exact: true }).waitFor()
    await tab.page.getByRole('button', { name: 'History' }).click()
    await tab.page
      .getByRole('cell', { name: /failed/ })
      .first()
      .waitFor()
    await tab.page.getByRole('button', { name: 'Remove' }).click()
    await tab.page.getByRole('button', { name: 'Remove it for good' }).click()
    await tab.page.getByText('Nothing is scheduled.').waitFor()
    expect(await stage.client.listSchedules()).toEqual([])
    await tab.close()
  }, 60_000)

  test('edits a schedule: shows when it would come, says what is refused, and takes the change back', async () => {
    const { id } = await stage.client.createSchedule({
      name: 'weekly',
      when: { kind: 'cron', expression: '0 7 * * 1', timeZone: 'Europe/Berlin' },
      task: { prompt: 'Look for flaky tests.', agent: 'fake', workspace: stage.workspace },
      ...{ session: 'new', overlap: 'skip', catchUp: 'one', jitterMs: 0 },
    })
    const before = await stage.client.getSchedule(id)
    const tab = await stage.open('/schedules')
    const { page } = tab
    await page.getByRole('button', { name: 'Edit' }).click()
    const form = page.getByRole('form', { name: 'Edit the schedule' })
    await form
      .getByText(/07:00 .*Europe\/Berlin/)
      .first()
      .waitFor()
    await form.getByLabel('Minute, hour').fill('0 8 * * 1-5')
    await form
      .getByText(/08:00 .*Europe\/Berlin/)
      .first()
      .waitFor()
    await form.getByLabel('Whose clocks count').fill('Europe/Nowhere')
    await form.getByText(/Europe\/Nowhere/).waitFor()
    await form.getByRole('button', { name: 'Keep' }).click()
    await form
      .getByRole('alert')
      .last()
      .getByText(/Europe\/Nowhere/)
      .waitFor()
    expect(await stage.client.getSchedule(id)).toEqual(before)

    await form.getByLabel('Whose clocks count').fill('Europe/Paris')
    await form.getByLabel('Name').fill('mornings')
    await form.getByLabel('If the last one').selectOption('queue')
    await form.getByLabel('After a time without').selectOption('none')
    await form.getByLabel('up to so much later').fill('5m')
    await form.getByLabel('goes on with the same conversation').check()
    await form.getByLabel('What is to be done').fill('Look for slow tests.')
    await form.getByRole('combobox', { name: /^Agent/ }).selectOption('demo')
    await form.getByLabel('Profile').selectOption('strict')
    await expectAccessible(page)
    await form.getByRole('button', { name: 'Keep' }).click()
    await page.getByRole('heading', { name: 'mornings' }).waitFor()
    const changed = {
      ...{ name: 'mornings', when: { kind: 'cron', expression: '0 8 * * 1-5', timeZone: 'Europe/Paris' }, overlap: 'queue' },
      ...{
        catchUp: 'none',
        jitterMs: 300_000,
        session: 'keep',
        prompt: 'Look for slow tests.',
        agent: 'demo',
        profile: 'strict',
      },
    }
    expect(await stage.client.getSchedule(id)).toMatchObject({ ...changed, workspace: stage.workspace })

    // Another kind of time, and back.
    await page.getByRole('button', { name: 'Edit' }).click()
    await form.getByRole('combobox', { name: /^When/ }).selectOption('idle')
    await form.getByLabel('After how much rest').fill('45m')
    await form.getByLabel('Whose rest').selectOption('session')
    await form.getByRole('button', { name: 'Keep' }).click()
    await page.getByText('It was changed.').waitFor()
    expect((await stage.client.getSchedule(id)).when).toEqual({ kind: 'idle', idleMs: 2_700_000, of: 'session' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => page.getByText('It was changed.').count()).toBe(0)
    expect(await stage.client.getSchedule(id)).toMatchObject(changed)
    expect(tab.wrong).toEqual([])
    await stage.client.removeSchedule(id)
    await tab.close()
  }, 60_000)

  test('says what would become of a call, keeps a secret without showing it, and checks the audit', async () => {
    const tab = await stage.open('/settings')
    await tab.page.getByLabel('Command, path or address').fill('rm -rf /')
    await tab.page.getByRole('button', { name: 'Explain' }).click()
    await tab.page
      .getByRole('status')
      .getByText(/deny|ask|allow/)
      .first()
      .waitFor()
    await tab.page.getByLabel('Name of a secret').fill('PAGE_KEY')
    await tab.page.getByLabel('Value').fill('hush-0123456789')
    await tab.page.getByRole('button', { name: 'Keep' }).click()
    await tab.page.getByRole('cell', { name: 'PAGE_KEY', exact: true }).waitFor()
    expect(await tab.page.content()).not.toContain('hush-0123456789')
    await tab.page.getByRole('button', { name: 'Check that it is whole' }).click()
    await tab.page.getByText(/entries are as they were written/).waitFor()
    expect(tab.wrong).toEqual([])
    await tab.close()
  })

  test('cancels a task after asking whether it is meant', async () => {
    const task = await add(script({ speak: 'busy' }, { hang: true }))
    const tab = await stage.open(`/tasks/${task.id}`)
    await tab.page.getByRole('button', { name: 'Cancel' }).click()
    await tab.page.getByRole('button', { name: 'Stop it' }).click()
    await tab.page.getByText('cancelled', { exact: true }).first().waitFor()
    expect((await stage.client.getTask(task.id)).state).toBe('cancelled')
    await tab.close()
  })

  test('never reads what an agent says as markup', async () => {
    const nasty = [
      '<img src=x onerror="document.title=\'owned\'">',
      '<script>document.title="owned"</script>',
      '[click](javascript:document.title="owned")',
      '![x](http://127.0.0.1:1/x.png)',
      '<svg onload=alert(1)>',
      '```html\n<iframe srcdoc="<script>parent.document.title=1</script>"></iframe>\n```',
    ]
    const task = await add(script(...nasty.map((text) => ({ speak: text }))))
    const tab = await stage.open(`/tasks/${task.id}`)
    await tab.page.getByText('<svg onload=alert(1)>').first().waitFor()
    expect(await tab.page.locator('[onerror], iframe, svg[onload], a[href^="javascript"], img[src^="http"]').count()).toBe(0)
    expect(await tab.page.title()).not.toContain('owned')
    expect(tab.wrong).toEqual([])
    await tab.close()
  })

  test('keeps nobody out on any screen, nothing is wider than the window, and nothing is refused by its policy: at a desk, by day and by night, and on a phone', async () => {
    const task = await add(script({ speak: '# Head\n\ntext `code` [link](https://example.org)' }, question))
    await expect.poll(async () => (await stage.client.getTask(task.id)).state, { timeout: 20_000 }).toBe('blocked')
    const tab = await stage.open()
    const paths = [...(await screenPaths()), '/tasks?view=board', '/sessions/new?agent=fake']
    for (const path of paths.map((path) => path.replace('$task', task.id).replace('$session', task.session))) {
      await tab.go(path)
      await tab.page.getByRole('heading', { level: 1 }).waitFor()
      await expect.poll(() => tab.page.getByText('Loading…').count()).toBe(0)
      await expectFitsEverywhere(tab.page)
    }
    expect(tab.wrong).toEqual([])
    await tab.close()
    await stage.client.cancelTask(task.id)
  }, 180_000)
})
