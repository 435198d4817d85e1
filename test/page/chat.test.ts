import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devices, expectAccessible, expectFits, expectFitsEverywhere, type Stage, script, startStage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
}, 60_000)
afterAll(() => stage.stop())

const begin = async (prompt: string, more: Record<string, unknown> = {}) =>
  (await stage.client.createTask({ prompt, agent: 'fake', workspace: stage.workspace, ...more })).task
const stateOf = async (task: string) => (await stage.client.getTask(task)).state

describe('a session on the page', () => {
  test('begins with an agent, goes on message by message, and shows answers, tools and questions in place', async () => {
    const tab = await stage.open('/agents')
    const { page } = tab
    await page.getByRole('link', { name: 'Chat with fake' }).click()
    await page.getByRole('heading', { name: 'New conversation with fake' }).waitFor()
    // Whoever goes by keyboard begins where the screen begins.
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1')
    await tab.go(`/sessions/new?agent=fake&workspace=${encodeURIComponent(stage.workspace)}`)
    const field = page.getByRole('textbox', { name: 'Message to fake' })
    await field.fill(script({ speak: '**bold** words' }, { ask: { text: 'Which colour?', options: ['Red', 'Blue'] } }))
    await field.press('Enter')
    await page.waitForURL(/\/sessions\/s_/)
    // While it waits: of what is done only the answer is shown.
    await page.locator('strong', { hasText: 'bold' }).first().waitFor()
    await page.getByRole('button', { name: 'Blue' }).click()
    await page.getByText('Which colour?', { exact: true }).waitFor({ state: 'detached' })
    const session = page.url().split('/').at(-1)!
    await expect.poll(async () => (await stage.client.getSession(session)).lastTask?.state, { timeout: 20_000 }).toBe('completed')
    await field.fill('first line')
    await field.press('Shift+Enter')
    await field.pressSequentially('second line')
    await field.press('Enter')
    await page.getByText('first line second line').first().waitFor()
    await expect.poll(async () => (await stage.client.getSession(session)).taskCount, { timeout: 20_000 }).toBe(2)
    const [last] = (await stage.client.getSession(session)).tasks
    expect((await stage.client.getTask(last!.id)).prompt).toBe('first line\nsecond line')
    await expectAccessible(page)
    expect(tab.wrong).toEqual([])
    await tab.close()
  }, 60_000)

  test('shows what the agent is saying while it says it, queues what is sent meanwhile, takes it back, and stops', async () => {
    // The last sign can begin no secret: what might waits until more of it is said.
    const task = await begin(script({ speak: 'whole line' }, { write: 'words that grow slowly … ' }, { hang: true }))
    const tab = await stage.open(`/sessions/${task.session}`)
    const { page } = tab
    const growing = page.locator('[data-kind=message]')
    await growing.getByText('words that grow slowly').waitFor()
    expect(JSON.stringify((await stage.client.readEvents(task.id)).items)).not.toContain('grow slowly')
    const field = page.getByRole('textbox', { name: 'Message to fake' })
    await page.getByText('It is at work: your message comes next.').waitFor()
    await field.fill('do this next')
    await field.press('Enter')
    await page.getByText('do this next', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Take it back' }).click()
    await page.getByText('cancelled', { exact: true }).waitFor()
    expect(await stateOf(task.id)).toBe('running')
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await expect.poll(() => stateOf(task.id), { timeout: 20_000 }).toBe('cancelled')
    // What was said of it by then is its answer.
    await growing.waitFor({ state: 'detached' })
    // Beside the line before it, or in one paragraph with it: what the page knew last is drawn first.
    await page
      .getByText(/words that grow slowly …$/)
      .first()
      .waitFor()
    expect(tab.wrong).toEqual([])
    await tab.close()
  }, 60_000)

  test('loses no message: neither while the daemon is away nor when the page is loaded again', async () => {
    const task = await begin(script({ speak: 'hello' }))
    await expect.poll(() => stateOf(task.id), { timeout: 20_000 }).toBe('completed')
    const tab = await stage.open(`/sessions/${task.session}`)
    const { page } = tab
    const field = page.getByRole('textbox', { name: 'Message to fake' })
    await field.fill('half a thought')
    await page.reload()
    await expect.poll(() => field.inputValue()).toBe('half a thought')
    await page.route('**/api/v1/tasks', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()))
    await field.fill(script({ speak: 'arrived' }))
    await field.press('Enter')
    await page.getByText('it is sent as soon as it does').waitFor()
    await page.unroute('**/api/v1/tasks')
    await page.reload()
    await page.getByText('arrived', { exact: true }).first().waitFor()
    expect((await stage.client.getSession(task.session)).taskCount).toBe(2)
    expect(await page.evaluate(`Object.keys(localStorage).filter((key) => key.startsWith('pawl-chat'))`)).toEqual([])
    // A new conversation in the same session is said before it is begun.
    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.getByText('the agent does not remember').waitFor()
    await tab.close()
  }, 60_000)

  test('goes back to its first message as somebody scrolls up, and leaves what is read where it is', async () => {
    const first = await begin(script({ hang: true }))
    const made = [first]
    for (let n = 1; n < 130; n++) made.push(await begin(`message number ${n}`, { session: first.session }))
    const tab = await stage.open(`/sessions/${first.session}`)
    const { page } = tab
    const turn = (n: number) => page.getByText(`message number ${n}`, { exact: true })
    const toTop = () => page.evaluate('scrollTo(0, 0)')
    await turn(129).waitFor()
    expect(await turn(100).count()).toBe(0)
    const read = turn(110)
    const before = await read.evaluate((element) => {
      scrollTo(0, 0)
      return element.getBoundingClientRect().top
    })
    await turn(100).waitFor()
    await expect.poll(async () => Math.abs(((await read.boundingBox())?.y ?? 9_999) - before), { timeout: 5_000 }).toBeLessThan(3)
    await expect
      .poll(
        async () => {
          await toTop()
          return page.locator('[role=log] > article').count()
        },
        { timeout: 20_000 },
      )
      .toBe(130)
    expect(await page.getByRole('button', { name: 'Show earlier messages' }).count()).toBe(0)
    expect(tab.wrong).toEqual([])
    await tab.close()
    await stage.client.changeTasks({ action: 'cancel', now: true, tasks: made.map(({ id }) => id) })
  }, 90_000)

  test('keeps nobody out at a desk, by day and by night, and on a phone', async () => {
    const markdown = '# Done\n\nI changed **two** files:\n\n- `src/a.ts`\n- `src/b.ts`\n\n```ts\nconst a = 1\n```'
    const asks = { ask: { text: 'May I delete the old folder?', options: ['Yes', 'No'] } }
    const task = await begin(script({ speak: markdown }), { name: 'Tidy the sources' })
    await expect.poll(() => stateOf(task.id), { timeout: 20_000 }).toBe('completed')
    await begin(script({ speak: 'I looked around.' }, asks), { session: task.session })
    await begin('And then tell me how it went.', { session: task.session })
    const tab = await stage.open('/sessions')
    const { page } = tab
    const draw = async (name: string) => {
      if (process.env.PAWL_TEST_SHOTS) await page.screenshot({ path: `${process.env.PAWL_TEST_SHOTS}/${name}.png` })
    }
    // The agents and a new conversation are looked at with all other screens.
    for (const [path, name] of [
      ['/sessions', 'sessions'],
      [`/sessions/${task.session}`, 'one'],
    ] as const) {
      await tab.go(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await expect.poll(() => page.getByText('Loading…').count()).toBe(0)
      if (name === 'one') await page.getByRole('button', { name: 'Yes' }).waitFor()
      await expectFitsEverywhere(page, (device) => draw(`${device}-${name}`))
    }
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await expectFits(page, ['light', 'dark'])
    await draw('keys')
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('h')
    await page.getByRole('heading', { name: 'Sessions' }).waitFor()
    expect(await page.title()).toBe('Sessions · Pawl')

    await page.setViewportSize(devices['on a phone'].viewport)
    await page.getByRole('button', { name: 'More' }).click()
    await draw('more')
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('heading', { name: 'Settings', exact: true }).waitFor()
    expect(await page.getByRole('link', { name: 'Costs' }).isVisible()).toBe(false)
    expect(tab.wrong).toEqual([])
    await tab.close()
    await stage.client.stopSession(task.session)
    for (const { id, state } of (await stage.client.getSession(task.session)).tasks)
      if (state !== 'completed') await stage.client.cancelTask(id)
  }, 90_000)
})
