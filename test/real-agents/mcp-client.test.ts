import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TaskView } from '../../src/domain/view/view.ts'
import { json, pawl, serve } from '../e2e/pawl.ts'
import { makeHome } from '../engine/home.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'
import { type InstalledAgents, installedAgents } from './install.ts'

const root = resolve(import.meta.dirname, '../..')

let home: Awaited<ReturnType<typeof makeHome>>
let models: ModelServer
let installed: InstalledAgents
let daemon: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  home = await makeHome('pawl-mcp-client-')
  models = await startModelServer()
  installed = await installedAgents()
  await mkdir(join(home.path, 'bin'))
  await symlink(join(root, 'bin/pawl'), join(home.path, 'bin/pawl'))
  daemon = await serve(home.path)
}, 600_000)
afterAll(async () => {
  daemon.process.kill('SIGTERM')
  await daemon.ended
  await models.close()
  await home.remove()
})

/** What docs/mcp.md has a user of this program type, in its order, with nothing changed but the port. */
async function commandsFor(program: string): Promise<string> {
  const text = await readFile(join(root, 'docs/mcp.md'), 'utf8')
  const lines = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block]) => block!.split('\n'))
  const typed = lines.filter((line) => line.startsWith(`${program} mcp add `) || line.startsWith('export TOKEN='))
  expect(typed).toHaveLength(3)
  return typed.join('\n').replaceAll('7295', new URL(daemon.url).port)
}

/** A terminal of somebody who has the programs and Pawl on their path, and a home of their own. */
async function typed(name: string, script: string, env: Record<string, string>): Promise<string> {
  const folder = join(home.path, name)
  const path = [join(home.path, 'bin'), installed.searchPath, dirname(process.execPath), process.env.PATH].join(':')
  const child: ChildProcess = spawn('/bin/sh', ['-euc', script], {
    cwd: join(folder, 'project'),
    env: { PATH: path, HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout!.setEncoding('utf8').on('data', (part) => (out += part))
  child.stderr!.setEncoding('utf8').on('data', (part) => (err += part))
  const code = await new Promise((done) => child.once('close', done))
  expect(code, `${out}\n${err}`).toBe(0)
  return out
}

interface Peer {
  readonly name: string
  /** What it needs to find its model, and to begin without questions to a person. */
  settle(folder: string): Promise<Record<string, string>>
  readonly begin: string
}

const peers: readonly Peer[] = [
  {
    name: 'claude',
    async settle(folder) {
      return {
        ANTHROPIC_BASE_URL: models.base('hand-in', 'claude'),
        ANTHROPIC_API_KEY: 'key-of-claude-0123456789',
        CLAUDE_CONFIG_DIR: join(folder, '.claude'),
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      }
    },
    begin: `claude -p 'have it done' --model claude-sonnet-4-5 --allowedTools mcp__pawl,mcp__pawl-http`,
  },
  {
    name: 'codex',
    async settle(folder) {
      await mkdir(join(folder, '.codex'))
      const settings = `model = "scripted-model"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${models.base('hand-in', 'codex')}/v1"
wire_api = "responses"
env_key = "SCRIPTED_API_KEY"
`
      await writeFile(join(folder, '.codex/config.toml'), settings)
      return { SCRIPTED_API_KEY: 'key-of-codex-0123456789' }
    },
    begin: `codex exec --skip-git-repo-check --disable plugins --dangerously-bypass-approvals-and-sandbox 'have it done'`,
  },
]

test.each(peers)(
  '$name, told of Pawl as docs/mcp.md says, hands a task in over stdio and reads its result over HTTP',
  { timeout: 240_000 },
  async ({ name, settle, begin }) => {
    const folder = join(home.path, name)
    await mkdir(join(folder, 'project'), { recursive: true })
    // Where Pawl looks by itself: not every program passes its variables on.
    await symlink(home.path, join(folder, '.pawl'))
    const said = await typed(name, `${await commandsFor(name)}\n${begin}`, await settle(folder))
    const [task, ...others] = json<{ items: TaskView[] }>(await pawl(home.path, ['ls', '--json'])).items.filter(
      ({ workspace }) => workspace === join(folder, 'project'),
    )
    expect(others).toEqual([])
    expect(task).toMatchObject({ agent: 'demo', state: 'completed', prompt: 'look around --no-question' })
    const shown = json<TaskView>(await pawl(home.path, ['task', 'show', task!.id, '--json']))
    const [, heard = ''] = said.split('Result: ')
    expect(heard).toContain(JSON.stringify(shown.result!.text).slice(1, -1))
  },
)
