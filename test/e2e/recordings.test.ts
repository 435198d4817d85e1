import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RecordingView, ReplayReport } from '../../src/domain/view/recording.ts'
import { makeHome } from '../engine/ready-database.ts'
import { until } from '../engine/until.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'
import { json, pawl, serve, startPawl } from './pawl.ts'

/** Asks its model twice and writes down what it said; a plain program, as anybody could have one. */
const program = `
const { readFileSync, writeFileSync } = require('node:fs')
const messages = [{ role: 'user', content: readFileSync(0, 'utf8') + readFileSync('notes.txt', 'utf8') }]
const ask = async () => {
  const { PAWL_MODEL_URL: url, PAWL_MODEL_KEY: key, PAWL_MODEL: model } = process.env
  const headers = { 'content-type': 'application/json', 'x-api-key': key, 'anthropic-version': '2023-06-01' }
  const answer = await fetch(url + '/v1/messages', { method: 'POST', headers, body: JSON.stringify({ model, max_tokens: 100, messages }) })
  const body = await answer.json()
  if (!answer.ok) throw new Error(body.error.message)
  messages.push({ role: 'assistant', content: body.content }, { role: 'user', content: 'and again' })
  return body.content.map((part) => part.text).join('')
}
ask().then(ask).then((said) => { writeFileSync('said.txt', said); console.log(said) })
`

let home = ''
let remove: () => Promise<void>
let workspace = ''
let models: ModelServer
beforeAll(async () => {
  ;({ path: home, remove } = await makeHome('pawl-e2e-'))
  workspace = join(home, 'workspace')
  await mkdir(workspace)
  await writeFile(join(workspace, 'notes.txt'), 'as it was\n')
  await writeFile(join(workspace, 'ask.cjs'), program)
  models = await startModelServer()
  const agent = {
    adapter: 'custom',
    command: [process.execPath, 'ask.cjs'],
    wire: 'anthropic',
    baseUrl: models.base('echo-history', 'e2e'),
    model: 'claude-sonnet-4-5',
  }
  await writeFile(join(home, 'config.yaml'), JSON.stringify({ agents: { asker: agent }, defaultAgent: 'asker' }))
  await serve(home)
})
afterAll(async () => {
  await pawl(home, ['stop'])
  await models.close()
  await remove()
})

const asked = () => models.requestsOf('e2e').filter(({ wire }) => wire !== undefined).length

test('a run is recorded, looked at, replayed, forked, exported, served and removed from the command line', async () => {
  const ran = await pawl(home, ['run', '--record', '--json', 'say something'], { cwd: workspace })
  expect(ran, ran.stderr).toMatchObject({ code: 0 })
  const { task } = json<{ task: { id: string } }>(ran)
  expect(asked()).toBe(2)

  const shown = json<RecordingView>(await pawl(home, ['recording', 'show', task.id, '--json']))
  expect(shown).toMatchObject({
    task: task.id,
    state: 'whole',
    calls: 2,
    canReplay: true,
    items: [{ messages: 1 }, { messages: 3 }],
  })
  const listed = await pawl(home, ['recording', 'ls'])
  expect(listed.stdout).toContain(shown.run)

  // The copy is of the workspace as it was when the run began.
  await writeFile(join(workspace, 'notes.txt'), 'changed\n')
  const replayed = await pawl(home, ['replay', shown.run, '--json'])
  const report = json<ReplayReport>(replayed)
  expect(replayed.code, report.says).toBe(0)
  expect(report).toMatchObject({ identical: true, calls: { recorded: 2, replayed: 2, live: 0 }, costUsd: 0 })
  expect(existsSync(join(home, 'workspaces', report.task, 'said.txt'))).toBe(true)

  const strayed = await pawl(home, ['replay', shown.run, '--prompt', 'say something else'])
  expect(strayed.code).toBe(1)
  expect(strayed.stdout).toMatch(/^The run left the recording at call 1 .*messages\[0\]\.content/)
  expect(asked()).toBe(2)

  // Replays are newer tasks, but what was recorded last is still this run.
  const forked = await pawl(home, ['fork', 'last', '--at', '2', '--model', 'claude-haiku-4-5', '--json'])
  expect(forked, forked.stderr).toMatchObject({ code: 0 })
  expect(asked()).toBe(3)
  expect(models.requestsOf('e2e').at(-1)?.body).toMatchObject({ model: 'claude-haiku-4-5' })

  const file = join(home, 'recording.jsonl')
  await writeFile(file, (await pawl(home, ['recording', 'export', shown.run.slice(-6)])).stdout)
  expect(JSON.parse(readFileSync(file, 'utf8').split('\n')[0]!)).toMatchObject({ type: 'recording', version: 1, run: shown.run })
  const server = startPawl(home, ['model-server', '--recording', file])
  const { url } = JSON.parse(await until(async () => server.stdout().split('\n', 2)[1] !== undefined && server.stdout())) as {
    url: string
  }
  const answer = await fetch(`${url}/v1/messages`, { method: 'POST', body: JSON.stringify(models.requestsOf('e2e')[0]!.body) })
  expect(answer.status).toBe(200)
  server.process.kill('SIGTERM')
  expect((await server.ended).code).toBe(0)

  expect(existsSync(join(home, 'recordings', shown.run))).toBe(true)
  expect((await pawl(home, ['task', 'rm', task.id, '--yes'])).code).toBe(0)
  expect(existsSync(join(home, 'recordings', shown.run))).toBe(false)
  const gone = await pawl(home, ['recording', 'rm', shown.run])
  expect(gone.stderr).toContain(`Run ${shown.run} was not recorded`)
}, 120_000)
