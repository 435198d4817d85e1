import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NewTask } from '../../src/domain/view/view.ts'
import { pawl } from '../e2e/pawl.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'
import { expectAccessible, type Stage, script, startStage } from './stage.ts'

/** Asks its model twice and says what it answered. */
const program = `
const ask = async () => {
  const { PAWL_MODEL_URL: url, PAWL_MODEL_KEY: key, PAWL_MODEL: model } = process.env
  const headers = { 'content-type': 'application/json', 'x-api-key': key, 'anthropic-version': '2023-06-01' }
  const messages = [{ role: 'user', content: 'hello' }]
  const answer = await fetch(url + '/v1/messages', { method: 'POST', headers, body: JSON.stringify({ model, max_tokens: 100, messages }) })
  const body = await answer.json()
  if (!answer.ok) throw new Error(body.error.message)
  return body.content.map((part) => part.text).join('')
}
ask().then(ask).then((said) => console.log(said))
`
const spends = `echo '{"text":"spent","cost":0.75}'`

let stage: Stage
let models: ModelServer
let asker = ''
beforeAll(async () => {
  asker = await mkdtemp(join(tmpdir(), 'pawl-page-asker-'))
  await chmod(asker, 0o777)
  await writeFile(join(asker, 'ask.cjs'), program)
  models = await startModelServer()
  const agents = {
    asker: {
      adapter: 'custom',
      command: [process.execPath, 'ask.cjs'],
      wire: 'anthropic',
      baseUrl: models.base('echo-history', 'page'),
      model: 'claude-sonnet-4-5',
    },
    spender: { adapter: 'custom', command: ['sh', '-c', spends], output: 'jsonl', map: { text: 'text', costUsd: 'cost' } },
  }
  // JSON is YAML too.
  stage = await startStage(
    Object.entries(agents)
      .map(([name, agent]) => `  ${name}: ${JSON.stringify(agent)}\n`)
      .join(''),
  )
}, 60_000)
afterAll(async () => {
  await stage.stop()
  await models.close()
  await rm(asker, { recursive: true, force: true })
})

const add = async (task: Partial<NewTask>) =>
  (await stage.client.createTask({ prompt: 'do it', agent: 'fake', workspace: stage.workspace, ...task })).task
const stateOf = async (id: string) => (await stage.client.getTask(id)).state
const until = (id: string, state: string) => expect.poll(() => stateOf(id), { timeout: 30_000 }).toBe(state)

describe('the screen of a task', () => {
  test('sends work back and accepts it by keyboard, and shows what each check printed', async () => {
    const checks = { attempts: 1, commands: [{ run: 'echo looked at it; test -f fake-agent.mjs', name: 'it is there' }] }
    const { id } = await add({ prompt: script({ speak: 'done' }), name: 'to be reviewed', review: true, checks })
    await until(id, 'review')
    const tab = await stage.open(`/tasks/${id}`)
    const { page } = tab
    await page.getByText('it is there', { exact: true }).click()
    await page.getByText('looked at it', { exact: true }).waitFor()
    await page.getByText(/^Exit code 0/).waitFor()
    await page.getByText('The last ones, of attempt 1').waitFor()
    await expectAccessible(page)

    await page.getByRole('heading', { name: 'to be reviewed' }).click()
    await page.keyboard.press('r')
    await page.keyboard.type('say it louder')
    await page.keyboard.press('Control+Enter')
    await expect.poll(async () => (await stage.client.getTask(id)).runs.length, { timeout: 30_000 }).toBe(2)
    await until(id, 'review')
    await page.getByText('queued again, the review asked for changes: say it louder').waitFor()
    await page.getByText('Earlier, of attempt 1').waitFor()
    await page.getByRole('button', { name: 'Accept' }).waitFor()
    await page.keyboard.press('a')
    await until(id, 'completed')
    expect(tab.wrong).toEqual([])
    await tab.close()
  }, 90_000)

  test('goes on with a larger budget, is edited while it waits, and is deleted after asking whether that is meant', async () => {
    const { id } = await add({ agent: 'spender', name: 'dear', budget: { usd: 0.5 } })
    await until(id, 'over_budget')
    const tab = await stage.open(`/tasks/${id}`)
    const { page } = tab
    await page.getByRole('button', { name: 'Raise the budget and go on' }).click()
    await page.getByLabel('Budget, in US dollars').fill('3')
    await page.getByRole('button', { name: 'Go on', exact: true }).click()
    await until(id, 'completed')
    expect((await stage.client.getTask(id)).settings.budget.usd).toBe(3)
    await page.getByText('$1.50 of at most $3').waitFor()

    const waits = await add({ prompt: script({ ask: { text: 'Which?', options: [] } }), name: 'waits' })
    await until(waits.id, 'blocked')
    await tab.go(`/tasks/${waits.id}`)
    await page.getByText('What cannot be done now').click()
    await page.getByText('It can be deleted when it has ended.').waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Name').fill('waits for you')
    await page.getByLabel(/^Tags/).fill('one, two')
    await page.getByRole('button', { name: 'Keep' }).click()
    await page.getByRole('heading', { name: 'waits for you' }).waitFor()
    expect((await stage.client.getTask(waits.id)).tags).toEqual(['one', 'two'])
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Stop it' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText(/Delete this task, with its runs/).waitFor()
    await page.getByRole('button', { name: 'Delete it for good' }).click()
    await page.waitForURL(/\/tasks$/)
    await expect(stage.client.getTask(waits.id)).rejects.toThrow('There is no task')
    expect(tab.wrong).toEqual([])
    await tab.close()
  }, 90_000)

  test('forks a recorded run from a call on, and says of one that was not recorded that it cannot', async () => {
    const { id } = await add({ agent: 'asker', workspace: asker, name: 'recorded', record: true })
    await until(id, 'completed')
    const tab = await stage.open(`/tasks/${id}`)
    const { page } = tab
    await page.getByText(/recorded, 2 calls/).waitFor()
    await page.getByRole('button', { name: 'Fork' }).click()
    await page.getByLabel('From call, 1 to 2').fill('2')
    await page.getByLabel('Model that goes on').fill('claude-haiku-4-5')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Fork it' }).click()
    await page.waitForURL((url) => url.pathname.startsWith('/tasks/') && !url.pathname.endsWith(id))
    const forked = new URL(page.url()).pathname.split('/').at(-1)!
    await until(forked, 'completed')
    expect(models.requestsOf('page').at(-1)?.body).toMatchObject({ model: 'claude-haiku-4-5' })

    const plain = await add({ prompt: script({ speak: 'not recorded' }) })
    await until(plain.id, 'completed')
    await tab.go(`/tasks/${plain.id}`)
    await page.getByText('What cannot be done now').click()
    await page.getByText('It cannot be forked: no run of it was recorded to be replayed.').waitFor()
    expect(await page.getByRole('button', { name: 'Fork' }).count()).toBe(0)
    expect(tab.wrong).toEqual([])
    await tab.close()
  }, 90_000)

  test('says what a running task is doing and since when, as the command line does', async () => {
    const checks = { commands: [{ run: 'sleep 60', name: 'slow' }], attempts: 0 }
    const { id } = await add({ prompt: script({ speak: 'done' }), checks })
    await expect.poll(async () => (await stage.client.getTask(id)).activity?.kind, { timeout: 20_000 }).toBe('check')
    const tab = await stage.open(`/tasks/${id}`)
    await tab.page.getByText(/^running check slow for \d+ s$/).waitFor()
    expect((await pawl(stage.home, ['show', id])).stdout).toMatch(/^doing +running check slow for \d+ s$/m)
    await stage.client.cancelTask(id, { now: true })
    await until(id, 'cancelled')
    expect((await stage.client.getTask(id)).activity).toBeNull()
    await tab.page.getByText(/^running check/).waitFor({ state: 'detached' })
    expect(tab.wrong).toEqual([])
    await tab.close()
  }, 60_000)
})
