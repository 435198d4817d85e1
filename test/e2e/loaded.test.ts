import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeHome } from '../engine/home.ts'
import { until } from '../engine/until.ts'

const root = resolve(import.meta.dirname, '../..')
let home: Awaited<ReturnType<typeof makeHome>>
beforeAll(async () => {
  home = await makeHome()
})
afterAll(() => home.remove())

/** What only some daemons need, and those not at their start: each is loaded for the first who uses it. */
const seldom = [
  /node_modules\/(@grpc|@a2a-js|@agentclientprotocol|@modelcontextprotocol|@bufbuild|protobufjs|jose|@clack)\//,
  /src\/gateway\/(serving\/gateway|serving\/serve|wires\/index|provider\/list-request)\.ts$/,
  /src\/gateway\/recordings\/(replay|recorder)\.ts$/,
  /src\/agents\/[^/]+\/(conversation|exec|acp|one-shot|run|probe)\.ts$/,
  /src\/operations\/(recordings|backups|drafts|elaborate)\.ts$/,
  /src\/surfaces\/http\/(describe|docs-page)\.ts$/,
  /src\/(daemon\/doctor\/doctor|cli\/task-file\/read)\.ts$/,
]
const isSeldom = (module: string) => seldom.some((part) => part.test(module))

it('a daemon that has done a task holds only what that took', { timeout: 300_000 }, async () => {
  const noted = join(home.path, 'loaded.txt')
  const loaded = async () => [...new Set((await readFile(noted, 'utf8')).split('\n'))]
  // From the sources: in a bundle nobody can tell them apart.
  const child = spawn(process.execPath, [join(root, 'bin/pawl'), 'serve', '--port', '0', '--json'], {
    cwd: home.path,
    env: {
      PATH: process.env.PATH,
      HOME: home.path,
      PAWL_HOME: home.path,
      NOTE_LOADED: noted,
      NODE_OPTIONS: `--require ${join(import.meta.dirname, 'note-loaded.cjs')}`,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exited = once(child, 'exit')
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    const { url } = JSON.parse(line) as { url: string }
    const token = (await readFile(join(home.path, 'token'), 'utf8')).trim()
    const ask = async (path: string, body?: object) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const answer = await fetch(
        `${url}/api/v1${path}`,
        body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers },
      )
      expect(answer.ok).toBe(true)
      return answer
    }
    expect((await loaded()).some((module) => module.endsWith('src/daemon/daemon.ts'))).toBe(true)
    expect((await loaded()).filter(isSeldom)).toEqual([])

    const { id } = (await (await ask('/tasks', { prompt: 'go', agent: 'demo' })).json()) as { id: string }
    await until(async () => {
      const { state } = (await (await ask(`/tasks/${id}`)).json()) as { state: string }
      return !['queued', 'running'].includes(state)
    }, 120_000)
    expect((await loaded()).filter(isSeldom)).toEqual([])

    // And what was left out is there when somebody wants it.
    await ask('/openapi.json')
    expect((await loaded()).filter(isSeldom)).toEqual([expect.stringMatching(/src\/surfaces\/http\/describe\.ts$/)])
  } finally {
    child.kill('SIGTERM')
    await exited
  }
})
