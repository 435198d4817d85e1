import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ScenarioInput } from '../model-server/scenario.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'
import { expectAccessible, type Stage, startStage } from '../page/stage.ts'
import { installedAgents } from './install.ts'
import { patienceMs, programNamed } from './peer.ts'

/** Whether the answer comes while the program waits for it or in a later run, it does the same then. */
const afterwards: ScenarioInput['steps'] = [
  { text: 'I write it down.', toolCall: { tool: 'shell', args: { command: 'echo "Hello, moon" > greeting.txt' } } },
  { text: 'The greeting is changed.' },
]
const scenario: ScenarioInput = {
  about: 'Looks at a file, asks which way it is meant, and changes it as it was told.',
  steps: [
    { text: 'I **look** at the greeting.', toolCall: { tool: 'shell', args: { command: 'cat greeting.txt' } } },
    {
      text: 'One thing is open.',
      toolCall: {
        tool: 'ask',
        args: { question: 'Whom shall it greet?', header: 'Greeting', options: ['The world', 'The moon'] },
      },
    },
    ...afterwards,
  ],
  laterSteps: afterwards,
}

let stage: Stage
let models: ModelServer
let workspace = ''
beforeAll(async () => {
  const program = programNamed('claude')
  const installed = await installedAgents()
  models = await startModelServer({ scenarios: { page: scenario } })
  workspace = await mkdtemp(join(tmpdir(), 'pawl-page-real-'))
  await chmod(workspace, 0o777)
  await writeFile(join(workspace, 'greeting.txt'), 'Hello, world\n', { mode: 0o666 })
  const claude = {
    ...{ adapter: program.adapter, model: program.model, command: installed.claude, baseUrl: models.base('page', 'page') },
  }
  // JSON is YAML too.
  stage = await startStage(`  claude: ${JSON.stringify(claude)}\n`, { [program.keyName]: 'key-of-the-page-0123456789' })
}, 90_000)
afterAll(async () => {
  await stage.stop()
  await models.close()
  await rm(workspace, { recursive: true, force: true })
})

test('the real claude is given a task on the page, watched, answered, seen at its changes, and accepted', async () => {
  const tab = await stage.open('/new')
  const { page } = tab
  page.setDefaultTimeout(patienceMs)
  await page.getByLabel('What is to be done').fill('Change the greeting.')
  await page.getByRole('combobox', { name: /^Agent/ }).selectOption('claude')
  await page.getByLabel('Name', { exact: true }).fill('greet somebody')
  await page.getByLabel(/^Workspace/).fill(workspace)
  await page.getByText('Proof and review').click()
  await page.getByLabel(/^Checks/).fill('grep -q moon greeting.txt')
  await page.getByLabel('I look at the work').check()
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('heading', { name: 'greet somebody' }).waitFor()
  const id = new URL(page.url()).pathname.split('/').at(-1)!

  // Live: nobody loads the page again.
  const log = page.getByRole('log')
  await log.locator('strong', { hasText: 'look' }).waitFor()
  await log.getByRole('button', { name: /Bash cat greeting\.txt/ }).click()
  await page.getByRole('region', { name: 'What came back from Bash' }).getByText('Hello, world').waitFor()
  await page.getByText('Whom shall it greet?').first().waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: '2 The moon' }).click()

  await page.getByRole('heading', { name: 'Is the work good?' }).waitFor()
  await log.getByRole('button', { name: /Bash echo "Hello, moon"/ }).waitFor()
  await page.getByRole('tab', { name: 'Changes' }).click()
  // The only one is shown at once.
  const diff = page.getByRole('region', { name: 'How greeting.txt was changed' })
  await diff.getByText('Hello, moon', { exact: true }).waitFor()
  await diff.getByText('Hello, world', { exact: true }).waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Accept' }).click()
  await page.getByText('completed', { exact: true }).first().waitFor()

  const task = await stage.client.getTask(id)
  expect(task).toMatchObject({ state: 'completed', proof: 'verified', questions: [{ answer: 'The moon' }] })
  expect(JSON.stringify(models.requestsOf('page').at(-1)?.body)).toContain('The moon')
  expect(await readFile(join(workspace, 'greeting.txt'), 'utf8')).toBe('Hello, moon\n')
  // What is shown is what the program itself has said, each once.
  await page.getByRole('tab', { name: 'What happened' }).click()
  await page.getByRole('button', { name: 'Messages' }).click()
  expect(await log.getByText('I write it down.').count()).toBe(1)
  expect(tab.wrong).toEqual([])
  await tab.close()
}, 180_000)
