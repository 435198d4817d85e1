import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Day, startDay } from './day.ts'
import { screenPaths } from './screen-paths.ts'
import type { Tab } from './stage.ts'

/** With PAWL_SCREENSHOTS=1 the pictures of the documentation are made anew. */
const isDrawn = Boolean(process.env.PAWL_SCREENSHOTS)
const folder = resolve(import.meta.dirname, '../../docs/screens')

let day: Day
beforeAll(async () => {
  day = await startDay()
  if (isDrawn) await mkdir(folder, { recursive: true })
}, 180_000)
afterAll(() => day.stop())

const desktop = { viewport: { width: 1280, height: 740 } }
const phone = { viewport: { width: 360, height: 740 } }
const dark = { ...desktop, colorScheme: 'dark' as const }

/** As the files are called, where a path is not name enough. */
const names: Record<string, string> = {
  '/': 'now',
  '/tasks/$task': 'task',
  '/tasks?view=board': 'board',
  '/sessions/$session': 'session',
  '/new': 'new-task',
}
const nameOf = (path: string) => names[path] ?? path.slice(1)
/** What is below is more of the same. */
const tallest: Record<string, number> = { now: 1_220, task: 900, doctor: 700 }

async function draw({ page }: Tab, name: string) {
  if (!isDrawn) return
  const { width, height } = page.viewportSize()!
  const whole: number = await page.evaluate('document.documentElement.scrollHeight')
  await page.setViewportSize({ width, height: Math.min(whole, tallest[name.split('-')[0]!] ?? 1_000) })
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled', caret: 'hide' })
  await page.setViewportSize({ width, height })
}
async function shown(tab: Tab, path: string) {
  await tab.go(path)
  await tab.page.getByRole('heading', { level: 1 }).waitFor()
  // The doctor needs a while.
  await expect.poll(() => tab.page.getByText(/Loading…|so far …/).count(), { timeout: 30_000 }).toBe(0)
  expect(await tab.page.getByRole('alert').allInnerTexts()).toEqual([])
}
const filled = (path: string) => path.replace('$task', day.tasks.review).replace('$session', day.session)
const allPaths = async () => [...(await screenPaths()), '/tasks?view=board']

test('every screen shows an ordinary day without an error', async () => {
  const tab = await day.stage.open('/', desktop)
  for (const path of await allPaths()) {
    await shown(tab, filled(path))
    if (path === '/new') {
      await tab.page
        .getByLabel('What is to be done')
        .fill('Show prices with tax on the page of a product, and round them as the invoice does.')
      await tab.page.getByRole('combobox', { name: /^Agent/ }).selectOption('claude')
    }
    await draw(tab, nameOf(path))
  }
  const { page } = tab
  await shown(tab, `/tasks/${day.tasks.review}`)
  await page.getByRole('tab', { name: 'Changes' }).click()
  await page.getByRole('button', { name: /changed src\/calendar\.ts/ }).click()
  await page.getByRole('region', { name: 'How src/calendar.ts was changed' }).scrollIntoViewIfNeeded()
  await draw(tab, 'task-changes')
  await shown(tab, `/tasks/${day.tasks.running}`)
  await page.getByRole('log').getByText('Twelve packages are behind.').waitFor()
  await draw(tab, 'task-running')
  expect(tab.wrong).toEqual([])
  await tab.close()
}, 120_000)

test.each<[string, BrowserContextOptions]>([
  ['dark', dark],
  ['phone', phone],
])(
  'and so do those that are looked at most: %s',
  async (name, device) => {
    const tab = await day.stage.open('/', device)
    const wanted = new Set(['/', '/tasks/$task', '/inbox', '/tasks?view=board'])
    for (const path of (await allPaths()).filter((path) => wanted.has(path))) {
      await shown(tab, filled(path))
      expect(await tab.page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
      await draw(tab, `${nameOf(path)}-${name}`)
    }
    expect(tab.wrong).toEqual([])
    await tab.close()
  },
  60_000,
)
