import { afterAll, beforeAll, expect, test } from 'vitest'
import { devices, expectFitsEverywhere, type Stage, script, startStage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
}, 60_000)
afterAll(() => stage.stop())

const pictures = process.env.PAWL_PICTURES
const base = () => ({ agent: 'fake', workspace: stage.workspace })

test('the first screen shows what runs, waits and ended today, whenever it was made, and an agent that fails with what to do next', async () => {
  const fail = { prompt: script({ exit: 3 }), retry: { attempts: 1 }, ...base() }
  for (const name of ['one', 'two', 'three']) {
    const { task } = await stage.client.createTask({ ...fail, name })
    await expect.poll(async () => (await stage.client.getTask(task.id)).state, { timeout: 30_000 }).toBe('failed')
  }
  const tab = await stage.open()
  const { page } = tab
  const trouble = page.getByRole('region', { name: 'Trouble' })
  await trouble.getByText(/The last 3 runs of fake failed, and nothing succeeded before them/).waitFor()
  await trouble.getByText(/What to do: look at what its last run said/).waitFor()
  if (pictures) await page.screenshot({ path: `${pictures}/trouble.png`, fullPage: true })
  const review = await stage.client.createTask({
    prompt: script({ speak: 'done' }),
    name: 'to be looked at',
    review: true,
    ...base(),
  })
  await expect.poll(async () => (await stage.client.getTask(review.task.id)).state, { timeout: 30_000 }).toBe('review')
  const { task: busy } = await stage.client.createTask({
    prompt: script({ speak: 'counting sheep' }, { hang: true }),
    name: 'busy',
    ...base(),
  })
  const { task: queued } = await stage.client.createTask({ prompt: 'x', name: 'next in line', session: busy.session, ...base() })
  await expect.poll(async () => (await stage.client.getTask(busy.id)).state, { timeout: 30_000 }).toBe('running')
  // One that did well ends it.
  await trouble.waitFor({ state: 'detached' })
  await page
    .getByRole('region', { name: /Needs you/ })
    .getByText('to be looked at')
    .waitFor()
  await page
    .getByRole('region', { name: /Running/ })
    .getByText('counting sheep')
    .waitFor()
  await page
    .getByRole('region', { name: /Queued/ })
    .getByText(/waits for …\w+, which runs on its session/)
    .waitFor()
  for (const name of ['one', 'two', 'three'])
    await page
      .getByRole('region', { name: /Done today/ })
      .getByText(name, { exact: true })
      .waitFor()
  if (pictures)
    for (const [name, device] of Object.entries(devices)) {
      const other = await stage.open('/', { viewport: device.viewport })
      await other.page.getByText('next in line').waitFor()
      await other.page.screenshot({ path: `${pictures}/now-${name}.png`, fullPage: true })
      await other.close()
    }
  expect(tab.wrong).toEqual([])
  await tab.close()
  for (const { id } of [queued, busy]) await stage.client.cancelTask(id, { now: true })
}, 120_000)

test('thousands of tasks are a list and a board, chosen by key and changed at once, and what is refused is told', async () => {
  // Nothing runs: they are all still there at the end.
  await stage.client.stopAll()
  await stage.client.createTask({ prompt: 'x', name: 'the very first', ...base() })
  for (let n = 0; n < 5; n++)
    await stage.client.createTasks({
      tasks: Array.from({ length: 1_000 }, (_, i) => ({
        prompt: `count to ${i}`,
        name: `task ${n * 1_000 + i}`,
        tags: [i % 2 ? 'odd' : 'even'],
        ...base(),
      })),
    })
  const tab = await stage.open('/tasks')
  const { page } = tab
  const list = page.getByRole('region', { name: 'All that fit' })
  await list
    .getByText(/^task 4\d\d\d$/)
    .first()
    .waitFor()
  expect(await list.getByRole('listitem').count()).toBeLessThan(60)

  // To the very end, page by page.
  await list.evaluate(async (box) => {
    for (let tries = 0; tries < 400; tries++) {
      box.scrollTop = box.scrollHeight
      await new Promise((next) => setTimeout(next, 16))
      if (box.textContent?.includes('the very first')) return
      await new Promise((next) => setTimeout(next, 25))
    }
  })
  await list.getByText('the very first', { exact: true }).waitFor()
  const longest = await list.evaluate(async (box) => {
    let worst = 0
    for (let n = 0; n < 60; n++) {
      const begun = performance.now()
      box.scrollTop = Math.random() * box.scrollHeight
      await new Promise((next) => setTimeout(next))
      worst = Math.max(worst, performance.now() - begun)
    }
    return worst
  })
  expect(longest).toBeLessThan(500)

  await page.getByLabel('Tag').fill('odd')
  await expect.poll(() => page.url()).toContain('tag=odd')
  await page.getByRole('button', { name: 'Choose all 2,500' }).waitFor()
  await page.locator('h1').click()
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.keyboard.press('Shift+J')
  await page.keyboard.press('Shift+ArrowDown')
  await page.getByText('3 chosen').waitFor()
  await page.getByRole('button', { name: 'Priority' }).click()
  await page.getByLabel('Priority, -100 to 100').fill('5')
  await page.getByRole('button', { name: 'Set', exact: true }).click()
  await page.getByText('3 done').waitFor()
  const first = (await stage.client.listTasks({ tag: 'odd', limit: 1 })).items[0]!
  expect(first.priority).toBe(5)
  if (pictures) await page.screenshot({ path: `${pictures}/list-desktop.png` })

  // One of the three ends behind its back: it is told of by name.
  await stage.client.cancelTask(first.id)
  await page.getByRole('button', { name: 'Tags' }).click()
  await page.getByLabel('Add, separated by spaces').fill('seen')
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  await page.getByText('2 done, 1 refused:').waitFor()
  await page
    .getByRole('status')
    .getByText(/only a task that waits can be changed/)
    .waitFor()
  await page.getByRole('button', { name: 'Choose none' }).click()

  await page.getByRole('button', { name: 'Choose all 2,500' }).click()
  await page.getByText('2,500 chosen').waitFor()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByText(/Stop 2,499 tasks\?/).waitFor()
  await page.getByRole('button', { name: 'Leave them' }).click()
  await page.getByRole('button', { name: 'Choose none' }).click()

  await page.getByText('Board', { exact: true }).click()
  await expect.poll(() => page.url()).toContain('view=board')
  await page.getByRole('heading', { name: /Queued and parked 2,49\d/ }).waitFor()
  await page.getByRole('region', { name: 'Done and failed' }).getByText(first.name!).first().waitFor()
  await page.getByRole('region', { name: 'Queued and parked' }).getByRole('link').first().focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('x')
  await page.getByText('1 chosen').waitFor()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('button', { name: 'Delete for good' }).click()
  await page.getByText('1 done').waitFor()
  await expect(stage.client.getTask(first.id)).rejects.toThrow(/no task/)
  await page.getByRole('region', { name: 'Queued and parked' }).getByRole('link').first().focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/tasks\/t_/)
  await page.goBack()
  await expect.poll(() => page.url()).toMatch(/tag=odd.*view=board|view=board.*tag=odd/)
  expect(tab.wrong).toEqual([])
  await tab.close()
}, 180_000)

test('list and board keep nobody out and fit the window, at a desk, by day and by night, and on a phone', async () => {
  const tab = await stage.open()
  for (const path of ['/tasks', '/tasks?view=board']) {
    await tab.go(path)
    await tab.page.getByRole('heading', { level: 1 }).waitFor()
    await expect.poll(() => tab.page.getByText('Loading…').count(), { timeout: 15_000 }).toBe(0)
    await expectFitsEverywhere(tab.page, async (name) => {
      const screen = path.includes('board') ? 'board' : 'list'
      if (pictures) await tab.page.screenshot({ path: `${pictures}/${screen}-${name}.png` })
    })
  }
  expect(tab.wrong).toEqual([])
  await tab.close()
}, 90_000)

test('on a phone each column of the board is one touch or one swipe away', async () => {
  const tab = await stage.open('/tasks?view=board', { viewport: { width: 360, height: 740 }, hasTouch: true })
  const { page } = tab
  const bar = page.getByRole('navigation', { name: 'Columns' })
  const current = bar.locator('[aria-current="true"]')
  const done = page.getByRole('heading', { name: /^Done and failed/ })
  await bar.getByRole('button', { name: /^[\d,]+\s*Working$/ }).waitFor()
  expect(await current.innerText()).toMatch(/Working/)
  const placeOf = async () => (await done.boundingBox())!
  expect((await placeOf()).x).toBeGreaterThan(360)

  await bar.getByRole('button', { name: /Done/ }).tap()
  await expect.poll(() => current.innerText(), { timeout: 10_000 }).toMatch(/Done/)
  await expect.poll(async () => Math.round((await placeOf()).x), { timeout: 10_000 }).toBeLessThan(20)
  // Whole, and above what stands at the foot of the window.
  const [column, foot] = [
    page.getByRole('region', { name: 'Done and failed' }).last(),
    page.getByRole('navigation', { name: 'Screens' }),
  ]
  const [box, below] = [(await column.boundingBox())!, (await foot.boundingBox())!]
  expect(box.x).toBeGreaterThanOrEqual(0)
  expect(box.x + box.width).toBeLessThanOrEqual(360)
  expect(box.y + box.height).toBeLessThanOrEqual(below.y)

  await page.getByRole('region', { name: 'Board' }).evaluate((board) => board.scrollBy({ left: -board.clientWidth }))
  await expect.poll(() => current.innerText(), { timeout: 10_000 }).toMatch(/Waiting/)
  expect(tab.wrong).toEqual([])
  await tab.close()
}, 60_000)
