import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TaskChangesView } from '../../src/domain/view/changes.ts'
import { makeHome } from '../engine/ready-database.ts'
import { json, pawl, serve } from './pawl.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let workspace: string
beforeAll(async () => {
  home = await makeHome()
  workspace = join(home.path, 'project')
  await mkdir(workspace)
  await chmod(workspace, 0o777)
  await writeFile(join(workspace, 'a.txt'), 'one\n', { mode: 0o666 })
  await chmod(join(workspace, 'a.txt'), 0o666)
  const script = 'echo two >> a.txt; echo new > "$(printf \'b\\033[31m.txt\')"; printf "raw \\033[1mwords"; echo complaint >&2'
  const agents = { writer: { adapter: 'custom', command: ['/bin/sh', '-c', script] } }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ agents }), { mode: 0o600 })
})
afterAll(() => home.remove())

test('what a task changed, and what its program wrote, are seen from the command line and over HTTP alike', async () => {
  const daemon = await serve(home.path)
  const ran = await pawl(home.path, ['run', '--json', '--agent', 'writer', 'write'], { cwd: workspace })
  const { task } = json<{ task: { id: string; state: string } }>(ran)
  expect(task.state).toBe('completed')
  const diff = (...args: string[]) => pawl(home.path, ['task', 'diff', task.id, ...args])

  try {
    const whole = await diff()
    expect(whole).toMatchObject({ code: 0, stderr: '' })
    expect(whole.stdout).toContain('--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n one\n+two\n')
    expect(whole.stdout).not.toContain('\u001b')
    const stat = await diff('--stat')
    expect(stat.stdout).toMatch(/M +\+1 -0 +a\.txt\nA +\+1 -0 +b<U\+001B>\[31m\.txt\n2 files, \+2 -0\n$/)
    expect((await diff('--name-only')).stdout).toBe('a.txt\nb<U+001B>[31m.txt\n')
    const changes = json<TaskChangesView>(await diff('--json'))
    expect(changes.files.map(({ path }) => path)).toEqual(['a.txt', 'b\u001b[31m.txt'])
    expect((await diff('--run', '1', '--path', 'a.txt')).stdout).toContain('+two')
    expect(await diff('--run', '2')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has 1 run; --run takes a number from 1 to 1'),
    })

    expect((await pawl(home.path, ['logs', '--raw', task.id])).stdout).toBe('raw \u001b[1mwords')
    expect((await pawl(home.path, ['logs', '--raw', task.id, '--run', '1', '--stderr'])).stdout).toBe('complaint\n')
    expect((await pawl(home.path, ['logs', task.id, '--stderr'])).code).toBe(2)

    const ask = (path: string, token = daemon.token) =>
      fetch(`${daemon.url}/api/v1/tasks/${task.id}/${path}`, { headers: { authorization: `Bearer ${token}` } })
    const text = await ask('diff?path=a.txt')
    expect(text.headers.get('content-type')).toBe('text/x-diff; charset=utf-8')
    expect(text.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await text.text()).toContain('+two')
    expect((await ask('diff?path=c.txt')).status).toBe(404)
    expect(await (await ask('changes')).json()).toEqual(changes)
    const log = await ask(`runs/${changes.runs[0]!.run}/log?start=4&length=100`)
    expect(log.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(log.headers.get('content-range')).toBe('bytes 4-12/13')
    expect(await log.text()).toBe('\u001b[1mwords')

    const parts = async (range: string) => {
      const address = `${daemon.url}/api/v1/tasks/${task.id}/runs/${changes.runs[0]!.run}/log`
      const response = await fetch(address, { headers: { authorization: `Bearer ${daemon.token}`, ...(range && { range }) } })
      return [response.status, response.headers.get('content-range'), await response.text()]
    }
    expect(await parts('')).toEqual([200, null, 'raw \u001b[1mwords'])
    expect(await parts('bytes=-5')).toEqual([206, 'bytes 8-12/13', 'words'])
    expect((await parts('bytes=13-')).slice(0, 2)).toEqual([416, 'bytes */13'])

    // A viewer sees what was changed, and not what the program itself complained of.
    await pawl(home.path, ['user', 'add', 'vera', '--role', 'viewer'])
    const { token } = json<{ token: string }>(await pawl(home.path, ['token', 'create', '--user', 'vera', '--json']))
    expect((await ask('changes', token)).status).toBe(200)
    expect((await ask(`runs/${changes.runs[0]!.run}/log?stream=stderr`, token)).status).toBe(403)
  } finally {
    daemon.process.kill('SIGTERM')
    await daemon.ended
  }
}, 90_000)
