import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ModelView } from '../../src/domain/view/model.ts'
import { makeHome } from '../engine/ready-database.ts'
import { listening } from '../gateway/stage.ts'
import { json, pawl } from './pawl.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let provider: Awaited<ReturnType<typeof listening>>
let limitedUntil: number | undefined
const run = (...args: string[]) => pawl(home.path, args, { cwd: join(home.path, 'project') })

const answer = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
}
const program = `
const { PAWL_MODEL_URL: url, PAWL_MODEL_KEY: key } = process.env
const body = JSON.stringify({ model: 'good', messages: [{ role: 'user', content: 'hello' }] })
const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
fetch(url + '/chat/completions', { method: 'POST', headers, body }).then(async (response) => {
  console.log(await response.text())
  process.exitCode = response.ok ? 0 : 1
})`

beforeAll(async () => {
  provider = await listening((request, response) => {
    request.resume()
    response.setHeader('content-type', 'application/json')
    if (request.method === 'GET') return response.end('{"data":[]}')
    limitedUntil ??= Date.now() + 8_000
    const seconds = Math.ceil((limitedUntil - Date.now()) / 1_000)
    if (seconds <= 0) return response.end(JSON.stringify(answer))
    return response.writeHead(429, { 'retry-after': String(seconds) }).end('{"error":{"message":"slow down"}}')
  })
  home = await makeHome()
  await mkdir(join(home.path, 'project'))
  const speaks = { adapter: 'custom', wire: 'openai-chat', model: 'good', profile: 'unattended-open' }
  const settings = (providers: object, models: object) => ({
    agents: { speaker: { ...speaks, command: [process.execPath, '--eval', program], budget: { usd: 5 } } },
    ...{ providers, models },
  })
  const there = { kind: 'openai-compatible', baseUrl: `${provider.url}/v1` }
  const nowhere = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' }
  const config = settings({ there, nowhere }, { good: { provider: 'there' }, bad: { provider: 'nowhere' } })
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
})
afterAll(async () => {
  await home.remove()
  await provider.close()
})

it('a provider that does not answer ends the look at the models with 1, and nobody is asked for figures at once', async () => {
  const listed = await run('models', '--json')
  expect(listed.code).toBe(0)
  const checked = await run('models', '--check', '--json')
  expect(checked.code).toBe(1)
  const { items } = json<{ items: ModelView[] }>(checked)
  expect(items.map(({ name, reach }) => [name, reach?.ok])).toEqual([
    ['good', true],
    ['bad', false],
  ])
  const both = await run('models', '--check', '--figures')
  expect(both.code).not.toBe(0)
  expect(both.stderr).toContain('ask for one of them')
}, 120_000)

it('a limit of seconds is waited for without a daemon, and the work is done', async () => {
  const ended = await run('run', '--agent', 'speaker', 'hello')
  expect(ended.stderr).toContain('parked until')
  expect(ended.code).toBe(0)
  expect(ended.stdout).toContain('Hello.')
}, 120_000)
