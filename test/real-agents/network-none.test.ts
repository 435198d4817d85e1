import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adapterNamed } from '../../src/agents/index.ts'
import type { Command, LaunchSpec } from '../../src/agents/port.ts'
import { hostPath, inPlace } from '../../src/domain/base/path.ts'
import { serveDoor } from '../../src/engine/endpoint/endpoint.ts'
import { createBubblewrap } from '../../src/sandbox/bubblewrap/sandbox.ts'
import { proxyEnvironment } from '../../src/sandbox/egress/environment.ts'
import { readRules } from '../../src/sandbox/egress/host-rule.ts'
import type { NetworkEvent } from '../../src/sandbox/egress/network.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'
import { installedAgents } from './install.ts'
import { type Program, programs } from './peer.ts'

const bubblewrap = createBubblewrap()
const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined
let models: ModelServer
let base: string
beforeAll(async () => {
  models = await startModelServer()
  base = mkdtempSync(join(tmpdir(), 'pawl-none-'))
})
afterAll(async () => {
  await models.close()
  rmSync(base, { recursive: true, force: true })
})

function ownPlace(path: string): string {
  mkdirSync(join(base, path), { recursive: true })
  if (user) chownSync(join(base, path), user.uid, user.gid)
  return join(base, path)
}

function writeFiles(home: string, files: Command['files'] = {}): void {
  for (const [name, content] of Object.entries(files)) {
    for (let folder = dirname(name); folder !== '.'; folder = dirname(folder)) ownPlace(join(home, folder).slice(base.length))
    writeFileSync(join(home, name), content)
    if (user) chownSync(join(home, name), user.uid, user.gid)
  }
}

/** One turn inside walls that have no network but the door. */
async function turnInside(program: Program, scenario: string, model = models.base) {
  const { [program.agent]: file, searchPath } = await installedAgents()
  const adapter = adapterNamed(program.adapter)
  const key = `${program.agent}-none-${scenario}`
  const workspace = ownPlace(`${key}/workspace`)
  const home = ownPlace(`${key}/home`)
  const health = await adapter.probe(adapter.options.parse({ command: file }), { path: `${searchPath}:/usr/bin:/bin` })
  const spec: LaunchSpec = {
    options: adapter.options.parse({ command: file }),
    model: program.model,
    prompt: 'first message',
    workspace,
    home,
    extraArgs: [],
    program: health.program,
    version: health.version,
    baseUrl: '{{PAWL_DOOR_URL}}/model',
    access: { kind: 'variable', name: program.keyName },
    walled: true,
  }
  const plain = adapter.command(spec)
  writeFiles(home, plain.files)
  const keyVariable = { [program.keyName]: `key-of-${key}-0123456789` }
  const command = { ...plain, env: { PATH: '/usr/bin:/bin', ...proxyEnvironment(), ...keyVariable, ...plain.env } }
  const walled = await bubblewrap.launch(command, {
    unit: bubblewrap.killUnit(`pawl-none-${process.pid}-${key}`, 1),
    workspace: inPlace(workspace),
    home: hostPath(home),
    hidden: [],
    user,
    network: 'none',
    door: true,
    limits: { processes: 512, openFiles: 4_096 },
  })
  const door = serveDoor(walled.door!.server, { token: 'the-token' })
  const events: NetworkEvent[] = []
  try {
    const conversation = await adapter.open(walled.child, spec)
    await door.bind({
      describe: () => ({ task: 'task_1', run: 'run_1', attempt: 1 }),
      ask: async () => ({ id: 'question_1' }),
      consult: async () => undefined,
      notify: async () => undefined,
      network: {
        profile: 'guarded',
        rules: readRules({ allow: [], ask: [], deny: [] }),
        model: `${model(scenario, key)}${program.api}`,
        ask: async () => undefined,
        record: (event) => void events.push(event),
      },
    })
    const verdict = await conversation.turn({
      prompt: spec.prompt,
      signal: AbortSignal.timeout(60_000),
      ask: async () => undefined,
      permit: async () => ({ allow: true }),
      emit: () => undefined,
    })
    await conversation.close()
    return { verdict, events, requests: models.requestsOf(key) }
  } finally {
    await walled.child.stop({ graceMs: 0 })
    await door.close()
  }
}

describe.each(programs)('the real $agent behind walls without any network', (program) => {
  test('reaches its model through the door, and nobody else', async () => {
    const { verdict, events, requests } = await turnInside(program, 'echo-history')
    expect(verdict).toMatchObject({ outcome: 'succeeded', text: '1 prompts: first message' })
    expect(requests.length).toBeGreaterThan(0)
    expect(events).toEqual([])
  })

  test('is told by the door that its model cannot be reached', async () => {
    const { verdict } = await turnInside(program, 'nobody-there', () => 'http://127.0.0.1:1')
    expect(verdict).toMatchObject({ outcome: 'failed', category: 'network' })
  })
})
