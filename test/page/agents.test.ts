import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAccessible, type Stage, startStage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
}, 60_000)
afterAll(() => stage.stop())

test('an agent shows where other agents reach it by A2A, and the address is copied', async () => {
  const tab = await stage.open('/agents')
  const { page } = tab
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'demo', exact: true }) })
  await card.getByRole('button', { name: 'What it can' }).click()
  const address = `${new URL(page.url()).origin}/a2a/agents/demo`
  await card.getByText(address, { exact: true }).waitFor({ timeout: 30_000 })
  await card.getByRole('button', { name: 'Copy the A2A address of demo' }).click()
  await card.getByRole('button', { name: 'Copied the A2A address of demo' }).waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(address)
  await expectAccessible(page)
  await tab.close()
}, 90_000)
