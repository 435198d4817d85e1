import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Stage, script, startStage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
}, 60_000)
afterAll(() => stage.stop())

const half = '---\nrequest_status: PARTIAL\ncomments: two of the three files\n---'

test('a part of the work is told by words wherever its task is shown, and what depends on it needs somebody', async () => {
  const base = { agent: 'fake', workspace: stage.workspace }
  const { task: first } = await stage.client.createTask({ prompt: script({ speak: half }), name: 'three files', ...base })
  const { task: second } = await stage.client.createTask({
    prompt: script({ speak: 'went on' }),
    name: 'use the files',
    dependsOn: [first.id],
    ...base,
  })
  await expect.poll(async () => (await stage.client.getTask(second.id)).state, { timeout: 30_000 }).toBe('blocked')
  const tab = await stage.open()
  const { page } = tab
  const needs = page.getByRole('region', { name: /Needs you/ })
  await needs.getByText('use the files', { exact: true }).waitFor()
  await needs.getByText(/did only a part of its work: The agent says: two of the three files/).waitFor()
  const done = page.getByRole('region', { name: /Done today/ })
  await done.getByText('completed (partial)', { exact: true }).waitFor()
  await tab.go('/tasks')
  await page.getByText('completed (partial)', { exact: true }).first().waitFor()
  await tab.go(`/sessions/${first.session}`)
  await page.getByText('completed (partial)', { exact: true }).first().waitFor()
  await tab.go(`/tasks/${second.id}`)
  await page.getByRole('region', { name: 'Belongs together' }).getByText('completed (partial)', { exact: true }).waitFor()
  await tab.go(`/tasks/${first.id}`)
  await page.locator('header').getByText('completed (partial)', { exact: true }).waitFor()
  await stage.client.retryTask(second.id, {})
  await expect.poll(async () => (await stage.client.getTask(second.id)).state, { timeout: 30_000 }).toBe('completed')
  expect(tab.wrong).toEqual([])
  await tab.close()
}, 120_000)
