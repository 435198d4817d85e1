import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectAccessible, type Stage, script, startStage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
}, 60_000)
afterAll(() => stage.stop())

const question = { ask: { text: 'Which colour?', options: ['Red', 'Blue'] } }
const add = async (prompt: string, more: Record<string, unknown> = {}) =>
  (await stage.client.createTask({ prompt, name: 'a task', agent: 'fake', workspace: stage.workspace, ...more })).task

describe('the page', () => {
  test('shows a stranger how to sign in, and nothing else', async () => {
    const tab = await stage.open()
    await tab.context.clearCookies()
    await tab.page.reload()
    await tab.page.getByText('This browser is not signed in.').waitFor()
    await expectAccessible(tab.page)
    await tab.close()
  })

  test('signs in by a one-time code and keeps it out of the address', async () => {
    const tab = await stage.open()
    await tab.page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    expect(tab.page.url()).not.toContain('code')
    expect(tab.wrong).toEqual([])
    await tab.close()
  })

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

  test('answers by keyboard alone: to the inbox, and the number of an option', async () => {
    const task = await add(script(question, { speak: 'Thank you.' }))
    await expect.poll(async () => (await stage.client.getTask(task.id)).state, { timeout: 20_000 }).toBe('blocked')
    const tab = await stage.open()
    await tab.page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    await tab.page.keyboard.press('g')
    await tab.page.keyboard.press('i')
    await tab.page.getByRole('heading', { name: 'Inbox' }).waitFor()
    await tab.page.getByText('Which colour?').first().waitFor()
    await tab.page.keyboard.press('1')
    await expect.poll(async () => (await stage.client.getTask(task.id)).questions[0]?.answer).toBe('Red')
    await tab.close()
  })

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
      // Each run of it begins with them.
      expect(await page.getByRole('log').getByText('first words').count()).toBe(2)
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

  test.each([
    ['desktop', { viewport: { width: 1280, height: 800 } }],
    ['phone', { viewport: { width: 360, height: 740 } }],
    ['dark', { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' as const }],
  ])(
    'keeps nobody out on any screen, nothing is wider than the window, and nothing is refused by its policy: %s',
    async (_, device) => {
      const task = await add(script({ speak: '# Head\n\ntext `code` [link](https://example.org)' }, question))
      await expect.poll(async () => (await stage.client.getTask(task.id)).state, { timeout: 20_000 }).toBe('blocked')
      const tab = await stage.open('/', device)
      for (const path of ['/', '/tasks', '/new', '/inbox', '/agents', '/schedules', '/costs', '/settings', `/tasks/${task.id}`]) {
        await tab.go(path)
        await tab.page.getByRole('heading', { level: 1 }).waitFor()
        await expect.poll(() => tab.page.getByText('Loading…').count()).toBe(0)
        await expectAccessible(tab.page)
        expect(await tab.page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
      }
      expect(tab.wrong).toEqual([])
      await tab.close()
      await stage.client.cancelTask(task.id)
    },
    60_000,
  )
})
