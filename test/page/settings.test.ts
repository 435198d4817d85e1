import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { json, pawl } from '../e2e/pawl.ts'
import { expectAccessible, expectFitsEverywhere, type Stage, startStage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage('# as few as there are cores\nlimits:\n  running: 2 # for now\n')
}, 60_000)
afterAll(() => stage.stop())

const pictures = process.env.PAWL_PICTURES
const file = () => readFile(join(stage.home, 'config.yaml'), 'utf8')

test('every limit is seen with where it comes from, changed with checks and hints, in force at once, and undone; the command line does the same', async () => {
  const tab = await stage.open('/settings')
  const { page } = tab
  const row = page.getByRole('row', { name: /limits\.running/ })
  await row.getByText('How many runs at once.').waitFor()
  await row.getByText(/config\.yaml:\d+/).waitFor()
  await page.getByRole('button', { name: 'Change limits.running' }).click()
  const field = page.getByLabel('New value of limits.running')
  await field.fill('0')
  await page.getByRole('button', { name: 'Set', exact: true }).click()
  await row
    .getByRole('alert')
    .getByText(/must be a whole number of at least 1/)
    .waitFor()
  expect(await file()).toContain('running: 2 # for now')
  await field.fill('7')
  await page.getByRole('button', { name: 'Set', exact: true }).click()
  await page.getByRole('status').getByText('counts at once').waitFor()
  expect(await file()).toContain('# as few as there are cores')
  expect(await file()).toContain('running: 7 # for now')

  await page.getByLabel('Another setting').fill('limits.perAgnt.fake')
  await page.getByLabel(/Set to text/).fill('1')
  await page.getByRole('button', { name: 'Add', exact: true }).first().click()
  await page
    .getByRole('alert')
    .getByText(/Unknown key "perAgnt".*did you mean "perAgent"/)
    .waitFor()
  await page.getByLabel('Another setting').fill('limits.perAgent.fake')
  await page.getByRole('button', { name: 'Add', exact: true }).first().click()
  await page.getByRole('row', { name: /limits\.perAgent\.fake/ }).waitFor()
  if (pictures) await page.screenshot({ path: `${pictures}/settings-desktop.png`, fullPage: true })
  await page.getByRole('button', { name: 'Undo the last change' }).click()
  await page.getByRole('row', { name: /limits\.perAgent\.fake/ }).waitFor({ state: 'detached' })

  const set = await pawl(stage.home, ['config', 'set', 'log.level', 'warn', '--json'])
  expect(json(set)).toMatchObject({ restart: true, changed: [{ path: 'log.level', after: 'warn', effect: 'restart' }] })
  const wrong = await pawl(stage.home, ['config', 'set', 'timeouts.total', 'soon'])
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('timeouts.total') })
  const overruled = await pawl(stage.home, ['config', 'set', 'server.port', '7999', '--json'])
  expect(json(overruled)).toMatchObject({
    changed: [{ path: 'log.level' }],
    overruled: [{ path: 'server.port', by: 'flag --port' }],
  })
  await pawl(stage.home, ['config', 'unset', 'server.port'])
  await pawl(stage.home, ['config', 'set', 'log.level', 'debug'])
  const undone = await pawl(stage.home, ['config', 'undo'])
  expect(undone.stdout).toContain('log.level')
  const unset = await pawl(stage.home, ['config', 'unset', 'limits.running'])
  expect(unset.stdout).toContain('limits.running: 7 → 4  (in force now)')
  expect((await stage.client.listAudit({ action: 'settings.change', limit: 10 })).items.length).toBeGreaterThanOrEqual(4)
  expect(tab.wrong).toEqual([])
  await tab.close()
}, 90_000)

test('lets somebody in, gives them a token once, and shows what the doctor finds with its cure', async () => {
  const tab = await stage.open('/settings')
  const { page } = tab
  const users = page.getByRole('region', { name: 'Table of users' })
  await page.getByLabel('Let somebody in').fill('ann')
  await page.getByRole('region', { name: 'Users', exact: true }).getByRole('button', { name: 'Add' }).click()
  await users.getByRole('cell', { name: 'ann', exact: true }).waitFor()
  await page.getByLabel('A new token for').fill('her phone')
  await page.getByLabel('Whose').selectOption('ann')
  await page.getByRole('button', { name: 'Make', exact: true }).click()
  await page.getByText(/Copy it now, it is not shown again: pawl_/).waitFor()
  expect((await stage.client.listTokens({ user: 'ann' })).map(({ name }) => name)).toEqual(['her phone'])
  await expectFitsEverywhere(page)
  await page.getByRole('button', { name: 'Remove ann' }).click()
  await page.getByRole('button', { name: /Remove ann and end/ }).click()
  await users.getByRole('cell', { name: 'ann', exact: true }).waitFor({ state: 'detached' })

  await page.getByRole('link', { name: /Doctor/ }).click()
  await page.getByText(/need a look\.|Everything is well\./).waitFor({ timeout: 40_000 })
  await page.getByRole('listitem').filter({ hasText: 'walls' }).first().waitFor()
  const rows = await page.getByRole('main').getByRole('listitem').count()
  expect(rows).toBeGreaterThan(10)
  await page.getByRole('button', { name: 'Look again' }).click()
  await page.getByText(/^Looking:/).waitFor()
  await page.getByText(/need a look\.|Everything is well\./).waitFor({ timeout: 40_000 })
  expect(await page.getByRole('main').getByRole('listitem').count()).toBe(rows)
  await expectFitsEverywhere(page, async (name) => {
    if (pictures) await page.screenshot({ path: `${pictures}/doctor-${name}.png` })
  })
  expect(tab.wrong).toEqual([])
  await tab.close()
}, 120_000)

test('a backup is taken, seen with what is in it and that the key is not, and downloaded whole', async () => {
  const tab = await stage.open('/settings')
  const { page } = tab
  const backups = page.getByRole('region', { name: 'Backups', exact: true })
  await backups.getByText('There is none yet.').waitFor()
  await backups.getByLabel('with raw logs').check()
  await backups.getByRole('button', { name: 'Take a backup now' }).click()
  await backups.getByText(/\.pawl is whole and on disk\./).waitFor({ timeout: 30_000 })
  const row = backups.getByRole('listitem')
  await row.getByText(/rows of \d+ tables, \d+ files?, with raw logs\. Pawl .*The key is not in it\./).waitFor()
  const [download] = await Promise.all([page.waitForEvent('download'), row.getByRole('link', { name: /Download/ }).click()])
  const [kept] = await stage.client.listBackups()
  expect([download.suggestedFilename(), (await readFile(await download.path())).length]).toEqual([kept!.name, kept!.bytes])
  expect(await stage.client.backupUnderWay()).toBeNull()
  await expectAccessible(page)
  if (pictures) await backups.screenshot({ path: `${pictures}/backups-desktop.png` })
  await page.setViewportSize({ width: 360, height: 740 })
  if (pictures) await backups.screenshot({ path: `${pictures}/backups-phone.png` })
  expect(tab.wrong).toEqual([])
  await tab.close()
}, 60_000)
