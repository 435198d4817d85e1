import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../engine/until.ts'
import { screenPaths } from './screen-paths.ts'
import { seedEvents } from './seed.ts'
import { expectAccessible, expectFits, type Stage, script, startStage } from './stage.ts'

/** What makes a reader see something else than what is there, each kind once. */
const hostile =
  'txt\u202Egpj.exe \u2066iso\u2069 zero\u200Bwidth tag\u{E0041} vs\uFE0F sep\u2028line \u0085nel \u001b[8mhid\u001b[0m null\u0000'
/** What the database takes. */
const kept = hostile.replace('\u0000', '\u0001')

let stage: Stage
let asking: string
let done: string
beforeAll(async () => {
  stage = await startStage()
  const base = { agent: 'fake', workspace: stage.workspace }
  const code = `if (isAdmin) {\u202E } \u2066// check\u2069\nlet a\u200B = 1 // שלום == 5\r\nmixed\n`
  const made = await stage.client.createTask({
    ...base,
    name: `done ${kept.replaceAll(/[^\S ]/g, '')}`,
    prompt: script({ writeFile: { file: 'odd\u202Efdp.sh', text: code } }, { speak: kept }, { stderr: kept }),
  })
  done = made.task.id
  await until(async () => (await stage.client.getTask(done)).state === 'completed', 30_000)
  const blocked = await stage.client.createTask({
    ...base,
    prompt: script({ ask: { text: `May I? ${kept}\u00A0now`, options: [`Yes ${kept}`, 'No'] } }),
  })
  asking = blocked.task.id
  await until(async () => (await stage.client.getTask(asking)).state === 'blocked', 30_000)
  const { runs } = await stage.client.getTask(asking)
  const run = runs[0]!.id
  await seedEvents(stage.home, asking, [
    {
      run,
      type: 'agent.message',
      data: { text: `${kept} [https://example.org](https://evil.example/) ![p](https://evil.example/${kept})` },
    },
    {
      run,
      type: 'agent.message',
      data: { text: `\`\`\`\n${kept}\n\`\`\`\n\n| ${kept} | b |\n|---|---|\n| c | <b title="${kept}">x</b> |` },
    },
    { run, type: 'agent.thinking', data: { text: kept } },
    { run, type: 'agent.stderr', data: { text: kept } },
    { run, type: 'agent.tool_called', data: { callId: 'a', tool: `Bash${kept}`, input: { command: `ls ${kept}`, [kept]: 1 } } },
    { run, type: 'agent.tool_returned', data: { callId: 'a', output: kept, isError: false } },
    {
      run,
      type: 'agent.tool_called',
      data: { callId: 'b', tool: 'Edit', input: { file_path: `/a/${kept}`, old_string: 'x', new_string: code } },
    },
    { run, type: 'agent.tool_returned', data: { callId: 'b', output: kept, isError: true } },
    {
      run,
      type: 'permission.decided',
      data: { verdict: 'denied', tool: kept, call: kept, rule: kept, from: kept, why: kept },
    },
    { run, type: 'agent.retrying', data: { attempt: 2, detail: kept } },
    { run, type: 'run.noted', data: { code: 'note', detail: kept } },
    {
      run,
      type: 'agent.tool_called',
      data: { callId: 'c', tool: 'TodoWrite', input: { todos: [{ content: kept, status: 'pending' }] } },
    },
  ])
}, 120_000)
afterAll(() => stage.stop())

/** Every text and every spoken or shown attribute of the page that holds something unseen. What is in a field is somebody's to change, and stays. */
const unseenIn = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const hidden =
      /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\ufe0f|[\u{e0000}-\u{e0fff}]/u
    const found: string[] = hidden.test(document.title) ? [`title: ${document.title}`] : []
    const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (nodes.nextNode()) {
      const { parentElement, nodeValue } = nodes.currentNode
      if (parentElement?.tagName !== 'TEXTAREA' && hidden.test(nodeValue ?? ''))
        found.push(`<${parentElement?.tagName}> ${nodeValue}`)
    }
    for (const element of document.querySelectorAll('*'))
      for (const { name, value } of element.attributes)
        if (!['value', 'href', 'src'].includes(name) && hidden.test(value)) found.push(`${name}=${value}`)
    return found
  })

test('no screen draws, names or reads aloud what a reader would not see', async () => {
  const session = (await stage.client.getTask(asking)).session
  const paths = (await screenPaths()).flatMap((path) => {
    if (path.includes('$task')) return [done, asking].map((task) => path.replace('$task', task))
    return [path.replace('$session', session).replace('$agent', 'fake')]
  })
  const tab = await stage.open('/')
  const { page } = tab
  for (const path of paths) {
    await tab.go(path)
    await page.locator('h1').first().waitFor()
    await page.waitForTimeout(300)
    expect([path, await unseenIn(page)]).toEqual([path, []])
  }
  await tab.close()
}, 120_000)

test('a task shows by their numbers, in every part of it, what would deceive; marked, so that nobody takes them for typed text', async () => {
  const tab = await stage.open(`/tasks/${asking}`)
  const { page } = tab
  await page.getByRole('log').getByText('its model again').waitFor()
  const closed = page.getByRole('log').getByRole('button', { expanded: false })
  for (let n = 0; n < 12 && (await closed.count()) > 0; n++) await closed.last().click()
  await page.locator('mark.unseen', { hasText: '<U+202E>' }).first().waitFor()
  expect(await unseenIn(page)).toEqual([])
  // What a person approves is shown to the letter, other spaces too.
  const asked = page.getByRole('article')
  await asked.getByText('May I? txt<U+202E>gpj.exe').waitFor()
  await asked.getByText('<U+00A0>now').first().waitFor()
  await asked.locator('button', { hasText: 'Yes txt<U+202E>gpj.exe' }).waitFor()
  await page.getByRole('log').evaluate((box) => box.scrollTo(0, 0))
  // A link says where it leads if its text says otherwise; nothing is loaded from there.
  await page.getByText('(evil.example)').first().waitFor()
  expect(await page.locator('img[src*="evil"]').count()).toBe(0)
  await shoot(page, 'task')
  await expectFits(page, ['light', 'dark'])
  await tab.go(`/tasks/${done}`)
  await page.getByRole('tab', { name: 'Changes' }).click()
  await page.getByText('odd<U+202E>fdp.sh').first().waitFor()
  const lines = page.getByRole('region', { name: /How odd<U\+202E>fdp\.sh was changed/ })
  await lines.getByText('<U+202E>').first().waitFor()
  expect(await lines.locator('bdi').innerText()).toBe('שלום')
  await lines.getByText('<U+000D>').waitFor()
  expect(await unseenIn(page)).toEqual([])
  await shoot(page, 'changes')
  await page.getByRole('tab', { name: 'Raw log' }).click()
  await page.locator('pre mark.unseen').first().waitFor()
  expect(await unseenIn(page)).toEqual([])
  await shoot(page, 'log')
  await expectAccessible(page)
  expect(tab.wrong).toEqual([])
  await tab.close()
}, 120_000)

test('what is copied is what was written', async () => {
  const tab = await stage.open(`/tasks/${done}`)
  const { page } = tab
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('tab', { name: 'Changes' }).click()
  const lines = page.getByRole('region', { name: /was changed/ })
  await lines.getByText('isAdmin').waitFor()
  await lines.evaluate((box) => document.getSelection()?.selectAllChildren(box))
  await page.keyboard.press('Control+c')
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied).toContain('if (isAdmin) {\u202E } \u2066// check\u2069')
  expect(copied).toContain('let a\u200B = 1 // שלום == 5')
  expect(copied).not.toContain('<U+')
  // And the page still shows it.
  await lines.getByText('<U+202E>').first().waitFor()
  await tab.close()
}, 60_000)

const shots = process.env.PAWL_SHOTS
const shoot = async (page: Page, name: string) => {
  if (shots) await page.screenshot({ path: join(shots, `unseen-${name}.png`), fullPage: true })
}
