import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { commandAgent, makeHome, until } from '../engine/home.ts'
import { json, pawl, serve } from './pawl.ts'

let home: Awaited<ReturnType<typeof makeHome>>
beforeAll(async () => {
  home = await makeHome()
})
afterAll(() => home.remove())

test('a viewer is told what kind of trouble it was and where to look it up, an operator the detail', async () => {
  const daemon = await serve(home.path)
  onTestFinished(async () => {
    daemon.process.kill('SIGTERM')
    await daemon.ended
  })
  const tokenOf = async (role: string) => {
    await pawl(home.path, ['user', 'add', role, '--role', role, '--json'])
    return json<{ token: string }>(await pawl(home.path, ['token', 'create', '--user', role, '--json'])).token
  }
  const [viewer, operator, admin] = [await tokenOf('viewer'), await tokenOf('operator'), await tokenOf('admin')]
  const ask = async (token: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': 'application/json' }
    const answer = await fetch(`${daemon.url}${path}`, {
      headers,
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    })
    return answer.text()
  }
  const agentConfig = commandAgent(['sh', '-c', 'echo the-inner-cause >&2; exit 7'])
  const made = JSON.parse(await ask(admin, '/api/v1/tasks', { prompt: 'x', agentConfig })) as { id: string }
  const path = `/api/v1/tasks/${made.id}`
  const state = async () => (JSON.parse(await ask(operator, path)) as { state: string }).state
  await until(async () => (await state()) === 'failed')

  const pages = [path, `${path}/events`, '/api/v1/tasks']
  const seenBy = async (token: string) => (await Promise.all(pages.map((page) => ask(token, page)))).join('\n')
  const [less, more] = [await seenBy(viewer), await seenBy(operator)]
  expect(more).toContain('the-inner-cause')
  expect(less).not.toContain('the-inner-cause')
  expect(less).toContain('The agent program ended with an error code.')
  expect(less).toMatch(/\(reference r_/)

  const stream = await fetch(`${daemon.url}${path}/events?until=rest`, { headers: { authorization: `Bearer ${viewer}` } })
  const streamed = await stream.text()
  expect(streamed).toContain('"type":"agent.stderr"')
  expect(streamed).not.toContain('the-inner-cause')
})
