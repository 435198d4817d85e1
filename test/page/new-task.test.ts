import { mkdir, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { json, pawl } from '../e2e/pawl.ts'
import { expectAccessible, type Stage, script, startStage } from './stage.ts'

const proposal = {
  name: 'speed up the login',
  prompt: script({ speak: 'It is fast now.' }),
  checks: ['true'],
  tags: ['login'],
  priority: 'high',
  review: false,
}

let stage: Stage
beforeAll(async () => {
  stage = await startStage(`  writer:
    adapter: custom
    command: [${process.execPath}, -e, ${JSON.stringify(`process.stdout.write(${JSON.stringify(JSON.stringify(proposal))})`)}]
elaborate: { agent: writer, timeout: 20s }
`)
  await mkdir(join(stage.home, 'prompts/tasks'), { recursive: true })
  await writeFile(
    join(stage.home, 'prompts/tasks/careful.md'),
    'Be careful.\n\n{{task}}\n\n{{#context}}Know: {{context}}{{/context}}',
  )
}, 60_000)
afterAll(() => stage.stop())

describe('new task', () => {
  test('offers to work in a home folder where that was refused', async () => {
    const { page } = await stage.open('/new')
    await page.getByLabel('What is to be done').fill(script({ speak: 'at home' }))
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('fake')
    await page.getByLabel(/^Workspace/).fill(homedir())
    await page.getByRole('button', { name: 'Start' }).click()
    await page
      .getByRole('alert')
      .getByText(/is a home folder/)
      .waitFor()
    await page.getByLabel(/^Let the agent work in .* a home folder/).check()
    await expectAccessible(page)
    // Another folder is another question.
    await page.getByLabel(/^Workspace/).fill(stage.workspace)
    expect(await page.getByLabel(/^Let the agent work in/).isChecked()).toBe(false)
    await page.getByRole('button', { name: 'Clear' }).click()
  })

  test('takes everything a task can be told, keeps it over a reload, and sends it by keyboard', async () => {
    const before = (
      await stage.client.createTask({ prompt: script({ hang: true }), name: 'first', agent: 'fake', workspace: stage.workspace })
    ).task
    const tab = await stage.open('/new')
    const { page } = tab
    await page.getByLabel('What is to be done').fill(script({ speak: 'all of it' }))
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('fake')
    await page.getByLabel('Name', { exact: true }).fill('whole')
    await page.getByRole('button', { name: 'Browse…' }).waitFor()
    // The folder of the first task is one that was used lately.
    await page.getByRole('button', { name: stage.workspace.split('/').at(-1)! }).click()
    await page.getByLabel('Works in').selectOption('direct')
    await page.getByText('Proof and review').click()
    await page.getByLabel(/^Checks/).fill('true\n')
    await page.getByLabel('I look at the work').check()
    await page.getByText('Rights and limits').click()
    await page.getByLabel('Budget').fill('1.5')
    await page.getByLabel('Longest time').fill('soon')
    await page
      .getByRole('alert')
      .getByText(/no time/)
      .waitFor()
    await page.getByLabel('Longest time').fill('10m')
    await page.getByText('Order and labels').click()
    await page.getByLabel('Priority').selectOption('low')
    await page.getByLabel('Tags').fill('a b')
    await page.getByLabel('Begins when').fill(before.id)
    await page.getByRole('button', { name: 'Do not wait for first' }).waitFor()
    await page.getByText('Questions', { exact: true }).click()
    await page.getByLabel(/questions wait so long/).fill('2h')
    await page.getByLabel('If nobody answers').selectOption('proceed')
    await page.getByLabel('The answer').fill('Yes')
    await page.getByText('Template', { exact: true }).first().click()
    await page.getByRole('combobox', { name: 'Template' }).selectOption('careful')
    await page.getByText('Be careful.').waitFor()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.reload()
    await expect.poll(() => page.getByLabel('Tags').inputValue()).toBe('a b')
    await expectAccessible(page)
    // A template would hide the script from the fake agent.
    await page.getByRole('combobox', { name: 'Template' }).selectOption('')
    await page.getByLabel('Name', { exact: true }).press('Control+Enter')
    await page.getByRole('heading', { name: 'whole' }).waitFor()
    const [made] = (await stage.client.listTasks({ text: 'whole' })).items
    const task = await stage.client.getTask(made!.id)
    expect(task).toMatchObject({ name: 'whole', workspace: stage.workspace, tags: ['a', 'b'], dependsOn: [{ id: before.id }] })
    expect(task.settings).toMatchObject({
      ...{ review: true, timeoutMs: 600_000, checks: { commands: [{ run: 'true' }] } },
      questions: { deadlineMs: 7_200_000, afterDeadline: { kind: 'proceed', answer: 'Yes' } },
    })
    expect(task.settings.budget.usd).toBe(1.5)
    expect(tab.wrong).toEqual([])
    await tab.close()
    for (const { id } of [task, before]) await stage.client.cancelTask(id, { now: true })
  }, 60_000)

  test('finds a folder by looking, and shows nobody more than they may give to a task', async () => {
    await mkdir(join(stage.workspace, 'inner/.git'), { recursive: true })
    const tab = await stage.open('/new')
    const { page } = tab
    await page.getByLabel(/^Workspace/).fill(stage.workspace)
    await page.getByRole('button', { name: 'Browse…' }).click()
    await page.getByRole('button', { name: /^inner git$/ }).click()
    await page.getByText('No folders in here.').waitFor()
    await page.getByRole('button', { name: 'Work here' }).click()
    await expect.poll(() => page.getByLabel(/^Workspace/).inputValue()).toBe(join(stage.workspace, 'inner'))
    expect(tab.wrong).toEqual([])
    await tab.close()
    await stage.client.createUser({ name: 'olga', role: 'operator' })
    const { token } = await stage.client.createToken({ user: 'olga', kind: 'user' })
    const olga = stage.clientOf(token)
    await expect(olga.listFolders(stage.workspace)).rejects.toThrow(/server.workspaces/)
    expect(await olga.listFolders()).toMatchObject({ recent: [], items: [] })
    olga.close()
  }, 30_000)

  test('makes a schedule of the same form, with the next times as the daemon reckons them', async () => {
    const tab = await stage.open('/new')
    const { page } = tab
    await page.getByLabel('What is to be done').fill(script({ speak: 'morning' }))
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('fake')
    await page.getByText('Again and again').click()
    await page.getByRole('combobox', { name: /^When/ }).selectOption('cron')
    await page.getByLabel(/^Minute, hour/).fill('0 7 * *')
    await page.getByRole('alert').first().waitFor()
    await page.getByLabel(/^Minute, hour/).fill('0 7 * * 1-5')
    await page.getByLabel('Whose clocks').fill('Europe/Berlin')
    await page.getByRole('listitem').filter({ hasText: '07:00' }).nth(4).waitFor()
    await page.getByLabel('Name of the schedule').fill('mornings')
    await page.getByRole('button', { name: 'Make the schedule' }).click()
    await page.getByRole('heading', { name: 'mornings' }).waitFor()
    expect(await stage.client.getSchedule('mornings')).toMatchObject({
      when: { kind: 'cron', expression: '0 7 * * 1-5', timeZone: 'Europe/Berlin' },
      agent: 'fake',
    })
    expect(tab.wrong).toEqual([])
    await tab.close()
    await stage.client.removeSchedule('mornings')
  }, 30_000)

  test('reads a task file as it is pasted, names the line of a mistake, and makes all of it', async () => {
    const tab = await stage.open('/new')
    const { page } = tab
    await page.getByRole('button', { name: 'Paste a task file' }).click()
    const source = page.getByLabel(/YAML or JSON/)
    const done = JSON.stringify(script({ speak: 'done' }))
    await source.fill(`- name: one\n  agent: fake\n  promt: x\n  workspace: ${stage.workspace}\n`)
    await page
      .getByRole('alert')
      .getByText(/line:3 .*promt.*prompt/)
      .waitFor()
    await source.fill(
      `- {name: one, agent: fake, prompt: ${done}, workspace: ${stage.workspace}}\n- {name: two, agent: fake, prompt: ${done}, workspace: ${stage.workspace}, depends_on: [one]}\n- {name: three, agent: fake, prompt: ${done}, schedule: every 2h}\n`,
    )
    await page.getByText('after one').waitFor()
    await page.getByText('again: every 2h').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Make 2 tasks and 1 schedule' }).click()
    await page.getByRole('heading', { name: 'Tasks' }).waitFor()
    const two = (await stage.client.listTasks({})).items.find(({ name }) => name === 'two')
    expect((await stage.client.getTask(two!.id)).dependsOn).toMatchObject([{ name: 'one' }])
    expect(await stage.client.listSchedules()).toHaveLength(1)
    expect(tab.wrong).toEqual([])
    await tab.close()
  }, 30_000)

  test('keeps the id of a task that it does not know yet, and tells of one that is none', async () => {
    const before = (
      await stage.client.createTask({
        prompt: script({ speak: 'first' }),
        name: 'early',
        agent: 'fake',
        workspace: stage.workspace,
      })
    ).task
    const tab = await stage.open('/agents')
    const { page } = tab
    const { promise: isAsked, resolve: letThrough } = Promise.withResolvers<void>()
    await page.route('**/api/v1/tasks?*limit=50*', async (route) => {
      await isAsked
      await route.continue()
    })
    await tab.go('/new')
    await page.getByLabel('What is to be done').fill(script({ speak: 'later' }))
    await page.getByText('Order and labels').click()
    await page.getByLabel('Begins when').fill('t_0123456789abcdefgh')
    await page
      .getByRole('alert')
      .getByText(/t_0123456789abcdefgh/)
      .waitFor()
    await page.getByLabel('Begins when').fill(before.id)
    await page.getByRole('alert').waitFor({ state: 'detached' })
    expect(await page.getByRole('button', { name: 'Do not wait for early' }).count()).toBe(0)
    letThrough()
    await page.getByRole('button', { name: 'Do not wait for early' }).waitFor()
    expect(await page.getByLabel('Begins when').inputValue()).toBe('')
    await page.getByRole('button', { name: 'Clear' }).click()
    await tab.close()
  }, 60_000)

  test('has an agent make a task of a few words, which is looked at before anything is started', async () => {
    const tab = await stage.open('/new')
    const { page } = tab
    await page.getByLabel('What is to be done').fill('login slow pls fix')
    await page.getByRole('button', { name: 'Make a task of this' }).click()
    await page.getByText('The task is in the fields; nothing is started yet.').waitFor({ timeout: 25_000 })
    expect(await page.getByLabel('What is to be done').inputValue()).toBe(proposal.prompt)
    expect(await page.getByLabel(/^Checks/).inputValue()).toBe('true')
    expect(await page.getByLabel('Tags').inputValue()).toBe('login')
    const [asked] = (await stage.client.listTasks({ tag: 'elaborate' })).items
    expect(asked).toMatchObject({ agent: 'writer', state: 'completed' })
    expect((await stage.client.listTasks({ tag: 'login' })).items).toEqual([])
    await page.getByRole('button', { name: 'Back to my words' }).click()
    expect(await page.getByLabel('What is to be done').inputValue()).toBe('login slow pls fix')
    expect(tab.wrong).toEqual([])
    await tab.close()
  }, 60_000)

  test('does the same on the command line: words become a task file, and that becomes a task', async () => {
    const written = await pawl(stage.home, ['task', 'elaborate', 'login', 'slow', 'pls', 'fix', '--workspace', stage.workspace])
    expect(written).toMatchObject({ code: 0 })
    expect(written.stdout).toContain('name: speed up the login')
    const added = json<{ items: { id: string; tags: string[]; workspace: string }[] }>(
      await pawl(stage.home, ['task', 'add', '-f', '-', '--agent', 'fake', '--json'], { stdin: written.stdout }),
    )
    expect(added.items).toMatchObject([{ tags: ['login'], workspace: stage.workspace }])
    await expect.poll(async () => (await stage.client.getTask(added.items[0]!.id)).state, { timeout: 20_000 }).toBe('completed')
    await expect(stage.client.getProposal(added.items[0]!.id)).rejects.toThrow(/proposes nothing/)
  }, 60_000)
})
