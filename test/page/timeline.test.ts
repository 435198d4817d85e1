import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TaskView } from '../../src/domain/view/view.ts'
import { manyEvents, type Seed, seedEvents } from './seed.ts'
import { expectAccessible, type Stage, script, startStage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
}, 60_000)
afterAll(() => stage.stop())

const question = { ask: { text: 'Which colour?', options: ['Red', 'Blue'] } }
const asking = async (): Promise<TaskView> => {
  const prompt = script(question, { speak: 'after the answer' })
  const { task } = await stage.client.createTask({ prompt, name: 'a long one', agent: 'fake', workspace: stage.workspace })
  await expect.poll(async () => (await stage.client.getTask(task.id)).state, { timeout: 20_000 }).toBe('blocked')
  return stage.client.getTask(task.id)
}
const log = (page: Page) => page.getByRole('log')
/** The numbers of the rows that are drawn, and of those that are really in sight. */
const drawn = (page: Page): Promise<{ all: number[]; seen: number[] }> =>
  log(page).evaluate((box) => {
    const bounds = box.getBoundingClientRect()
    const rows = [...box.querySelectorAll<HTMLElement>('[data-seq]')]
    const isSeen = (row: HTMLElement) => {
      const { top, bottom } = row.getBoundingClientRect()
      return bottom > bounds.top + 1 && top < bounds.bottom - 1
    }
    const numbers = (some: HTMLElement[]) => some.map((row) => Number(row.dataset.seq))
    return { all: numbers(rows), seen: numbers(rows.filter(isSeen)) }
  })
const scrollTo = (page: Page, part: number) => log(page).evaluate((box, to) => box.scrollTo(0, box.scrollHeight * to), part)

/** The numbers of all events that the page shows as rows of their own. */
async function shownOf(task: string): Promise<number[]> {
  const numbers: number[] = []
  const silent = new Set(['agent.usage', 'run.admitted', 'agent.session', 'agent.tool_returned'])
  for (let after = 0; ; ) {
    const { items, next } = await stage.client.readEvents(task, { after, limit: 1000 })
    numbers.push(...items.filter(({ type }) => !silent.has(type)).map(({ seq }) => seq))
    if (next === null) return numbers
    after = Number(next)
  }
}

describe('the timeline', () => {
  test('holds 50,000 events in their order without a gap, keeps what is read in its place, and goes on after a restart', async () => {
    const { id, runs } = await asking()
    await seedEvents(stage.home, id, manyEvents(50_000, runs[0]!.id))
    const tab = await stage.open(`/tasks/${id}`)
    const { page } = tab
    await page.getByText(/events are read so far/).waitFor()
    await page.getByText(/events are read so far/).waitFor({ state: 'detached', timeout: 60_000 })
    const expected = await shownOf(id)
    const isExcerpt = ({ all, seen }: { all: number[]; seen: number[] }) => {
      const from = expected.indexOf(all[0]!)
      expect(all).toEqual(expected.slice(from, from + all.length))
      expect(seen.length).toBeGreaterThan(5)
    }
    expect((await drawn(page)).seen.at(-1)).toBe(expected.at(-1))
    for (const part of [0.9, 0.5, 0.51, 0.1, 0]) {
      await scrollTo(page, part)
      await expect.poll(async () => (await drawn(page)).seen.length).toBeGreaterThan(5)
      isExcerpt(await drawn(page))
    }
    expect((await drawn(page)).all[0]).toBe(expected[0])

    // Every message once, none twice.
    await page.getByRole('searchbox', { name: 'Find in what happened' }).fill('it was `')
    await page.getByText('1 of 10,000').waitFor({ timeout: 30_000 })
    await page.keyboard.press('Enter')
    await page.getByText('2 of 10,000').waitFor()
    await page.keyboard.press('Escape')
    await scrollTo(page, 0.5)
    const reading = (await drawn(page)).seen[0]

    await stage.restart()
    await stage.client.answerQuestion((await stage.client.getTask(id)).questions[0]!.id, 'Red')
    const newest = page.getByRole('button', { name: /Jump to the newest \(\d+ new\)/ })
    await newest.waitFor({ timeout: 30_000 })
    await expect.poll(async () => (await stage.client.getTask(id)).state, { timeout: 20_000 }).toBe('completed')
    expect((await drawn(page)).seen[0]).toBe(reading)
    await newest.click()
    await log(page)
      .getByText(/^completed/)
      .waitFor()
    const after = await shownOf(id)
    const { all, seen } = await drawn(page)
    expect(seen.at(-1)).toBe(after.at(-1))
    expect(all).toEqual(after.slice(-all.length))
    expect(await newest.count()).toBe(0)
    expect(tab.wrong).toEqual([])
    await tab.close()
  }, 180_000)

  test('shows edits as diffs, output as on a terminal, subagents below their call, decisions with their rule, waits with their reason', async () => {
    const { id, runs } = await asking()
    const run = runs[0]!.id
    const call = (
      callId: string,
      tool: string,
      input: unknown,
      output: string,
      more: { parent?: string; isError?: boolean } = {},
    ) => {
      const { parent, isError = false } = more
      const called = { callId, tool, input, ...(parent === undefined ? {} : { parent }) }
      return [
        { run, type: 'agent.tool_called', data: called },
        { run, type: 'agent.tool_returned', data: { callId, output, isError } },
      ] satisfies Seed[]
    }
    const printed = Array.from({ length: 120 }, (_, n) => `\u001b[32m✓\u001b[0m test number ${n}`).join('\n')
    const todos = [
      { content: 'Read the parser', status: 'completed' },
      { content: 'Fix the leap year', status: 'in_progress' },
    ]
    await seedEvents(stage.home, id, [
      ...call('a', 'TodoWrite', { todos }, 'ok'),
      ...call('b', 'Bash', { command: 'npm test' }, printed),
      ...call('c', 'Edit', { file_path: '/src/leap.ts', old_string: 'y % 4 === 0', new_string: 'isLeap(y)' }, 'changed'),
      { run, type: 'agent.tool_called', data: { callId: 'd', tool: 'Task', input: { description: 'look for others' } } },
      { run, type: 'agent.message', data: { text: 'meanwhile' } },
      ...call('e', 'Grep', { pattern: 'leap' }, 'src/a.ts', { parent: 'd' }),
      ...call('f', 'Bash', { command: 'cat missing' }, 'cat: missing: No such file', { isError: true }),
      {
        run,
        type: 'permission.decided',
        data: {
          verdict: 'denied',
          tool: 'Bash',
          call: 'git push',
          rule: 'Bash(git push *)',
          from: 'profile guarded',
          why: 'No.',
        },
      },
      { run, type: 'agent.retrying', data: { attempt: 2, of: 10, delayMs: 4_000, detail: '529 overloaded' } },
      { type: 'task.parked', data: { kind: 'usage_limit', until: new Date(Date.now() + 3_600_000).toISOString() } },
    ])
    const tab = await stage.open(`/tasks/${id}`, { viewport: { width: 1280, height: 1600 } })
    const { page } = tab
    const todo = page.getByRole('region', { name: /To do/ })
    await todo.getByText('1 of 2 done').waitFor()
    await todo.getByText('Fix the leap year').waitFor()

    await page.getByRole('button', { name: /Edit \/src\/leap\.ts/ }).click()
    const diff = page.getByRole('region', { name: 'Changes of /src/leap.ts' })
    expect(await diff.textContent()).toMatch(/removed: y % 4 === 0\s*\+added: isLeap\(y\)/)
    await page.getByRole('button', { name: /Bash npm test/ }).click()
    const output = page.getByRole('region', { name: 'What came back from Bash' })
    expect(await output.textContent()).toContain('⋯ 90 lines ⋯')
    expect(await output.textContent()).not.toContain('\u001b')
    await page.getByRole('button', { name: 'Show all 120 lines' }).click()
    expect(await output.textContent()).toContain('test number 60\n')

    const rows = await log(page).locator('[data-seq]').allInnerTexts()
    const place = (text: string) => rows.findIndex((row) => row.includes(text))
    expect(place('Grep')).toBe(place('look for others') + 1)
    expect(place('meanwhile')).toBe(place('Grep') + 1)
    await page.getByRole('button', { name: 'Hide 1 step' }).click()
    expect(await log(page).getByText('Grep').count()).toBe(0)
    await log(page)
      .getByText(/No\. · decided by profile guarded, rule Bash\(git push \*\)/)
      .waitFor()
    await log(page).getByText('try 2 of 10, after 4 s: 529 overloaded').waitFor()
    await log(page)
      .getByText(/^Parked until .* for (?:1 h|59 m|60 m)/)
      .waitFor()
    await expectAccessible(page)

    await page.getByRole('button', { name: 'Problems' }).click()
    await log(page).getByText('cat: missing: No such file').waitFor()
    expect(await log(page).getByText('npm test').count()).toBe(0)
    await page.getByRole('button', { name: 'Messages' }).click()
    await log(page).getByText('meanwhile').waitFor()
    expect(await log(page).getByText('cat missing').count()).toBe(0)
    await page.getByRole('button', { name: 'All' }).click()
    // By keyboard: to the field, and the call that holds the text is opened.
    await page.keyboard.press('/')
    await page.keyboard.type('number 119')
    await page.getByText('1 of 1').waitFor()
    expect(tab.wrong).toEqual([])
    await tab.close()
    await stage.client.cancelTask(id)
  }, 90_000)
})
