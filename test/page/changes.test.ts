import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../engine/until.ts'
import { expectAccessible, type Stage, script, startStage } from './stage.ts'

let stage: Stage
let task: string
const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }

beforeAll(async () => {
  stage = await startStage()
  const words = Array.from({ length: 3_000 }, (_, at) => `line ${at}`)
  await writeFile(join(stage.workspace, 'a.txt'), `${words.join('\n')}\n`, { mode: 0o666 })
  const changed = words.with(10, 'another tenth line').toSpliced(2_000, 900)
  const steps = [
    { writeFile: { file: 'a.txt', text: `${changed.join('\n')}\n` } },
    { writeFile: { file: 'src-main.ts', text: 'export const answer = 42\n\nconsole.log("<b>not bold</b>", answer)\n' } },
    { writeFile: { file: 'odd\u001b[31m\u202ename', text: 'x\n' } },
    { stderr: 'a complaint of the program' },
    { speak: 'It is done.' },
  ]
  const { task: made } = await stage.client.createTask({
    prompt: script(...steps),
    name: 'changes files',
    agent: 'fake',
    workspace: stage.workspace,
  })
  task = made.id
  await until(async () => (await stage.client.getTask(task)).state === 'completed', 30_000)
}, 90_000)
afterAll(() => stage.stop())

const shots = process.env.PAWL_SHOTS
const shoot = async (tab: Awaited<ReturnType<Stage['open']>>, name: string) => {
  if (shots) await tab.page.screenshot({ path: join(shots, `${name}.png`), fullPage: true })
}

test('shows what a task changed, file by file, with every line in its place', async () => {
  const tab = await stage.open(`/tasks/${task}`)
  const { page } = tab
  await page.getByRole('tab', { name: 'Changes' }).click()
  await page.getByText('3 files').waitFor()
  await shoot(tab, 'list')
  // By keyboard alone.
  const main = page.getByRole('button', { name: /new src-main\.ts/ })
  await main.focus()
  await page.keyboard.press('Enter')
  const lines = page.getByRole('region', { name: 'How src-main.ts was changed' })
  await lines.getByText('console.log("<b>not bold</b>", answer)').waitFor()
  expect(await lines.getByText('+', { exact: true }).count()).toBe(3)
  await page.keyboard.press('Enter')
  await lines.waitFor({ state: 'detached' })
  // A name that would steer or deceive is written out.
  await page.getByText('odd<U+001B>[31m<U+202E>name').waitFor()

  await page.getByRole('button', { name: /changed a\.txt/ }).click()
  const long = page.getByRole('region', { name: 'How a.txt was changed' })
  await long.getByText('another tenth line').waitFor()
  // Hundreds of lines, of which a screen's worth is made.
  expect(await long.locator('[class*=row]').count()).toBeLessThan(150)
  await shoot(tab, 'unified')
  await page.setViewportSize({ width: 1600, height: 900 })
  await page.getByLabel('Side by side').check()
  await long.getByText('line 10', { exact: true }).first().waitFor()
  await shoot(tab, 'beside')
  await expectAccessible(page)
  expect(tab.wrong).toEqual([])
  await tab.close()
})

test('shows what the program itself wrote, and gives it away as a file', async () => {
  const tab = await stage.open(`/tasks/${task}`)
  const { page } = tab
  await page.getByRole('tab', { name: 'Raw log' }).click()
  await page.getByRole('region', { name: 'What the program wrote to stdout' }).getByText('It is done.').waitFor()
  await page.getByLabel('Which output').selectOption('stderr')
  await page.getByText('a complaint of the program').last().waitFor()
  await shoot(tab, 'raw')
  await expectAccessible(page)
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download' }).click()])
  expect(download.suggestedFilename()).toMatch(/^r_\w+-stderr\.log$/)
  expect(tab.wrong).toEqual([])
  await tab.close()
})

test('is as good on a phone, and in the dark', async () => {
  const tab = await stage.open(`/tasks/${task}`, { ...phone, colorScheme: 'dark' })
  const { page } = tab
  await page.getByRole('tab', { name: 'Changes' }).click()
  await page.getByRole('button', { name: /changed a\.txt/ }).click()
  await page.getByText('another tenth line', { exact: true }).waitFor()
  await shoot(tab, 'phone')
  await expectAccessible(page)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
  expect(tab.wrong).toEqual([])
  await tab.close()
})
