import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { declaredRights } from '../../src/surfaces/http/needs.ts'
import { makeHome, startEngine } from '../engine/home.ts'
import { fakeRuntime } from '../fake-runtime.ts'
import { ask, bearer, exchange, listening, request, surfaceOver, token } from '../http-peer.ts'
import { traversals } from './traversal.ts'

const secret = 'the-canary-must-not-sing'
let outside: string
let canary: string
let corpus: string[]
let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Daemon
beforeAll(async () => {
  outside = await mkdtemp(join(tmpdir(), 'pawl-outside-'))
  canary = join(outside, 'canary')
  await writeFile(canary, secret)
  corpus = traversals(canary)
  home = await makeHome()
  daemon = await startEngine(home.path)
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
  await rm(outside, { recursive: true })
})

test('there are sixty of them, each its own', () => {
  expect(corpus.length).toBeGreaterThanOrEqual(60)
  expect(new Set(corpus).size).toBe(corpus.length)
})

test('no name of a file passes for an id or a name in any path, however it is written', async () => {
  const { runtime, surface, port } = await listening()
  onTestFinished(() => surface.stop())
  const withNames = [...declaredRights(surface.app).keys()].filter((route) => route.includes(':'))
  expect(withNames.length).toBeGreaterThan(10)
  const visible = (text: string) => text.replaceAll(/[^\x21-\x7e]|[?#]/g, (sign) => encodeURIComponent(sign))
  const headers = [
    `Host: 127.0.0.1:${port}`,
    `Authorization: ${bearer}`,
    'Accept: application/json',
    'Content-Type: application/json',
    'Content-Length: 2',
  ]
  const unexpected: string[] = []
  for (const route of withNames) {
    const [method, pattern] = route.split(' ') as [string, string]
    for (const each of corpus) {
      // A name that could be anybody's is taken for what it says, not for a file.
      if (/^[A-Za-z0-9][\w.-]*$/.test(each) && each.length < 200) continue
      runtime.calls.length = 0
      const writings = new Set([encodeURIComponent(each), encodeURIComponent(each).replaceAll('.', '%2e'), visible(each)])
      const answers = await Promise.all(
        [...writings].map(async (written) => {
          const answer = await exchange(port, request(`${method} ${pattern.replace(/:\w+/, written)}`, headers, '{}'))
          return { written, ...answer }
        }),
      )
      // A path that climbs out of one route may land on another; then that one answers as it always does, and is told nothing of it.
      const told = JSON.stringify(runtime.calls)
      const wasTold = told.includes(JSON.stringify(each).slice(1, -1))
      for (const { written, status, text } of answers)
        if (status >= 500 || text.includes(secret) || wasTold)
          unexpected.push(`${method} ${pattern} with ${written.slice(0, 100)}: ${status} ${told.slice(0, 200)}`)
    }
  }
  expect(unexpected).toEqual([])
}, 120_000)

test('no name of a file passes for the id of a conversation or a session, or for the name of an agent, a tag or a model', async () => {
  const workspace = join(home.path, 'ws')
  await mkdir(workspace)
  for (const each of corpus) {
    const attempts = [
      () => daemon.runtime.adoptSession({ vendorId: each.slice(0, 200), workspace }),
      () => daemon.runtime.createTask({ prompt: 'x', agent: each, workspace }, { by: 'test' }),
      () => daemon.runtime.createTask({ prompt: 'x', session: each, workspace }, { by: 'test' }),
    ]
    for (const attempt of attempts) {
      const error = await attempt().then(
        () => undefined,
        (thrown: unknown) => thrown as { code?: string; message: string },
      )
      expect([each, error?.code]).toEqual([each, expect.stringMatching(/^(invalid|not_found)$/)])
      expect(error?.message).not.toContain(secret)
    }
  }
  expect(await readdir(outside)).toEqual(['canary'])
})

test('a workspace is an absolute folder that is there: no other way to write one is understood, and a link to one is that one', async () => {
  const refused: string[] = []
  for (const each of corpus) {
    const code = await daemon.runtime.createTask({ prompt: 'x', agent: 'demo', workspace: each }, { by: 'test' }).then(
      () => 'taken',
      (error: { code?: string }) => error.code,
    )
    if (code === 'invalid') refused.push(each)
    else expect([each, code]).toEqual([each, 'refused as invalid'])
  }
  expect(refused).toEqual(corpus)
  const real = join(outside, 'real')
  await mkdir(real)
  await symlink(real, join(outside, 'link'))
  const { task } = await daemon.runtime.createTask(
    { prompt: 'x', agent: 'demo', workspace: join(outside, 'x/../link') },
    { by: 'test' },
  )
  expect(task.workspace).toBe(real)
  await daemon.runtime.cancelTask(task.id, { by: 'test', now: true })
})

const aModel = /^[\w@][\w.:=@/+-]{0,199}$/
const aName = /^[A-Za-z0-9][\w.-]{0,63}$/

test('the body of a request is held to the same', async () => {
  const surface = surfaceOver(fakeRuntime())
  for (const each of corpus) {
    for (const field of [{ session: each }, { agent: each }, { tags: [each] }, { model: each }]) {
      const answer = await ask(surface, 'POST', '/api/v1/tasks', {
        json: { prompt: 'p', ...field },
        headers: { authorization: `Bearer ${token}` },
      })
      const [name = ''] = Object.keys(field)
      const isPlain = name !== 'session' && (name === 'model' ? aModel : aName).test(each)
      expect([name, each, answer.status]).toEqual([name, each, isPlain ? 201 : 400])
    }
  }
})
