import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAccessible, type Stage, script, startStage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage(leaver)
}, 60_000)
afterAll(() => stage.stop())

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8DAwMDAxMDAwMDAAAANHQEDasKb6QAAAABJRU5ErkJggg==',
  'base64',
)

const leaver = `  leaver:
    adapter: custom
    command: [sh, -c, 'echo "# Report" >"$PAWL_ARTIFACTS/report.md"; echo ${png.toString('base64')} | base64 -d >"$PAWL_ARTIFACTS/picture.png"']
`

test('files are picked, pasted and refused with a sentence, and go with what is sent', async () => {
  const { client, workspace } = stage
  const { task } = await client.createTask({ prompt: script({ speak: 'hello' }), agent: 'fake', workspace })
  const tab = await stage.open(`/sessions/${task.session}`)
  const { page } = tab
  await page
    .getByRole('button', { name: /attach/i })
    .first()
    .click()
  await page.getByLabel('Files to attach').setInputFiles([
    { name: 'picture.png', mimeType: 'image/png', buffer: png },
    { name: 'program', mimeType: 'application/octet-stream', buffer: Buffer.from('7f454c4602010100', 'hex') },
  ])
  await page.getByText('is a program, and programs are not taken').waitFor()
  await page.getByRole('button', { name: 'Remove program' }).click()
  await page.evaluate(() => {
    const clipboardData = new DataTransfer()
    clipboardData.items.add(new File(['some notes'], 'notes.txt', { type: 'text/plain' }))
    document.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  })
  await page.getByRole('button', { name: 'Remove notes.txt' }).waitFor()
  await expectAccessible(page)
  await page
    .locator('textarea')
    .first()
    .fill(script({ speak: 'seen' }))
  await page.keyboard.press('Enter')
  await expect
    .poll(async () => {
      const { items } = await client.listTasks({ session: task.session, limit: 1 })
      return (await client.getTask(items[0]!.id)).settings.attachments?.map(({ name }) => name)
    })
    .toEqual(['picture.png', 'notes.txt'])
  expect(tab.wrong).toEqual([])
  await tab.close()
}, 60_000)

test('what a task left is listed with a picture of its pictures, and downloaded', async () => {
  const { client, workspace } = stage
  const { task } = await client.createTask({ prompt: 'leave some', agent: 'leaver', workspace })
  await expect.poll(async () => (await client.getTask(task.id)).state, { timeout: 20_000 }).toBe('completed')
  const tab = await stage.open(`/tasks/${task.id}`)
  const { page } = tab
  const files = page.getByRole('list', { name: 'Files that the task has left' })
  await files.waitFor()
  await expect.poll(() => files.locator('img').evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(2)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    files.getByRole('link', { name: 'Download report.md' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('report.md')
  expect(await readFile(await download.path(), 'utf8')).toBe('# Report\n')
  await expectAccessible(page)
  expect(tab.wrong).toEqual([])
  await tab.close()
}, 60_000)
