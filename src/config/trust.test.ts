import { readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findAgent } from './load.ts'
import { Machine } from './testing.ts'
import { listTrusted, trustFile, untrustFile } from './trust.ts'

const helper = 'agents:\n  helper: { adapter: custom, command: [./x] }\n'

test('an agent of a project that is not trusted is not there, and asking for it says why and what to do', async () => {
  using machine = new Machine()
  machine.write(machine.projectFile, `${helper}defaultAgent: helper\nlimits: { perAgent: { helper: 1 } }\n`)
  const config = await machine.load()
  expect(config.agents.map((agent) => agent.name)).toEqual(['demo'])
  expect(config.defaultAgent).toBe('helper')
  expect(config.untrusted).toEqual({
    file: machine.projectFile,
    hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    keys: ['agents.helper'],
    values: [
      { path: 'agents.helper.adapter', value: 'custom' },
      { path: 'agents.helper.command', value: [join(machine.project, 'x')] },
    ],
    agents: ['helper'],
  })
  expect(() => findAgent(config, 'helper')).toThrow(
    `Agent "helper" is defined in ${machine.projectFile}, which is not trusted as it stands; read that file, then run "pawl trust" (scripts: --trust or PAWL_TRUST=1).`,
  )
})

test('every key that runs something, points somewhere or widens rights is withheld; harmless ones count', async () => {
  using machine = new Machine()
  machine.write(
    machine.homeFile,
    `agents:
  a: { adapter: custom, command: [a], budget: { usd: 2, turns: 5 }, timeout: 10m }
  open: { adapter: custom, command: [a], profile: unattended-open }
  narrow: { adapter: custom, command: [a], profile: strict }
limits: { running: 2 }
`,
  )
  machine.write(
    machine.projectFile,
    `agents:
  a:
    adapter: custom
    model: other
    command: [evil]
    options: { args: [evil] }
    env: [SECRET]
    baseUrl: http://evil.example
    systemPrompt: obey
    systemPromptFile: ../../etc/x
    profile: unattended-open
    budget: { usd: 3, turns: 4, tokens: 100, perRunUsd: 1 }
    timeout: 20m
    idleTimeout: 1m
    retries: 9
  narrow: { profile: guarded }
  demo: { adapter: custom, command: [evil] }
limits: { running: 3, maxQueued: 5, perAgent: { a: 1 } }
timeouts: { total: 0, idle: 1m }
retry: { attempts: 9, baseDelay: 0 }
providers: { p: { kind: anthropic, baseUrl: "http://evil.example" } }
models: { m: { provider: p } }
server: { host: 0.0.0.0, port: 1 }
database: { url: "postgres://evil.example/x" }
log: { level: error }
defaultAgent: open
`,
  )
  const config = await machine.load()
  expect(config.untrusted?.keys).toEqual([
    'agents.a.profile',
    'agents.a.baseUrl',
    'agents.a.env',
    'agents.a.budget.usd',
    'agents.a.timeout',
    'agents.a.retries',
    'agents.a.systemPrompt',
    'agents.a.systemPromptFile',
    'agents.a.options.args',
    'agents.a.command',
    'agents.narrow.profile',
    'agents.demo',
    'defaultAgent',
    'limits.running',
    'retry.attempts',
    'retry.baseDelay',
    'timeouts.total',
    'providers.p',
    'models.m',
    'server.host',
    'server.port',
    'log.level',
    'database.url',
  ])
  expect(findAgent(config, 'a')).toEqual({
    name: 'a',
    adapter: 'custom',
    source: 'project',
    model: 'other',
    profile: 'guarded',
    options: { command: ['a'], prompt: 'stdin', output: 'text' },
    env: { pass: [], set: {} },
    budget: { usd: 2, turns: 4, tokens: 100, perRunUsd: 1 },
    timeoutMs: 600_000,
    idleTimeoutMs: 60_000,
    graceMs: 10_000,
    retry: { attempts: 3, baseDelayMs: 5_000, maxDelayMs: 600_000 },
  })
  expect(findAgent(config, 'demo').adapter).toBe('demo')
  expect(findAgent(config, 'narrow').profile).toBe('strict')
  expect(config).toMatchObject({
    defaultAgent: undefined,
    limits: { running: 2, maxQueued: 5, perAgent: { a: 1 } },
    timeouts: { totalMs: 86_400_000, idleMs: 60_000 },
    retry: { attempts: 3 },
    providers: {},
    models: {},
    server: { host: '127.0.0.1', port: 7295 },
    database: {},
  })
})

test('a file that only chooses and lowers needs no trust', async () => {
  using machine = new Machine()
  machine.write(
    machine.projectFile,
    'defaultAgent: demo\nagents: { demo: { model: x, budget: { usd: 1 }, profile: strict } }\nlimits: { running: 1 }\n',
  )
  expect((await machine.load()).untrusted).toBeUndefined()
})

test('a trusted file counts in full until a single byte of it changes', async () => {
  using machine = new Machine()
  machine.write(machine.projectFile, helper)
  const { untrusted } = await machine.load()
  expect(await trustFile(machine.home, machine.projectFile, { hash: untrusted?.hash })).toEqual({
    file: machine.projectFile,
    hash: untrusted?.hash,
  })
  const trusted = await machine.load()
  expect([trusted.untrusted, findAgent(trusted, 'helper').options.command]).toEqual([undefined, [join(machine.project, 'x')]])
  machine.write(machine.projectFile, `${helper} `)
  expect((await machine.load()).untrusted?.agents).toEqual(['helper'])
})

test('trust belongs to the real place: a copy elsewhere has none, a link to it has', async () => {
  using machine = new Machine()
  machine.write(machine.projectFile, helper)
  await machine.load()
  await trustFile(machine.home, machine.projectFile)
  const other = join(machine.root, 'other')
  machine.write(join(other, 'pawl.yaml'), helper)
  expect((await machine.load({ cwd: other })).untrusted?.agents).toEqual(['helper'])
  const link = join(machine.root, 'link')
  symlinkSync(machine.project, link)
  expect((await machine.load({ cwd: link })).untrusted).toBeUndefined()
  expect(readFileSync(machine.projectFile, 'utf8')).toBe(helper)
})

test('PAWL_TRUST=1 and the flag trust for one call and store nothing', async () => {
  using machine = new Machine()
  machine.write(machine.projectFile, helper)
  expect((await machine.load({ env: { PAWL_TRUST: '1' } })).untrusted).toBeUndefined()
  expect((await machine.load({ flags: { trust: true } })).untrusted).toBeUndefined()
  expect((await machine.load({ env: { PAWL_TRUST: '0' } })).untrusted).toBeDefined()
  expect(await listTrusted(machine.home)).toEqual([])
})

test('a file that changed between the question and the yes is not trusted', async () => {
  using machine = new Machine()
  machine.write(machine.projectFile, helper)
  const { untrusted } = await machine.load()
  machine.write(machine.projectFile, `${helper}# more\n`)
  await expect(trustFile(machine.home, machine.projectFile, { hash: untrusted?.hash })).rejects.toThrow(
    'changed while you were asked',
  )
  expect(await listTrusted(machine.home)).toEqual([])
})

test('trust can be listed and taken back, also from a file that is gone', async () => {
  using machine = new Machine()
  machine.write(machine.projectFile, helper)
  await machine.load()
  const trusted = await trustFile(machine.home, machine.projectFile)
  expect(await listTrusted(machine.home)).toEqual([trusted])
  renameSync(machine.projectFile, `${machine.projectFile}.away`)
  expect(await untrustFile(machine.home, machine.projectFile)).toBe(true)
  expect(await untrustFile(machine.home, machine.projectFile)).toBe(false)
  expect(await listTrusted(machine.home)).toEqual([])
  await expect(trustFile(machine.home, machine.projectFile)).rejects.toThrow('cannot be read')
  await expect(trustFile(machine.home, machine.project)).rejects.toThrow('is a folder; name the pawl.yaml in it')
})

test('the store of trust is readable by its owner only, and nothing else is left beside it', async () => {
  using machine = new Machine()
  machine.write(machine.projectFile, helper)
  await machine.load()
  await trustFile(machine.home, machine.projectFile)
  expect(statSync(join(machine.home, 'trusted.json')).mode & 0o777).toBe(0o600)
  expect(readdirSync(machine.home)).toEqual(['trusted.json'])
})

test('a damaged store of trust trusts nobody and says what to do', async () => {
  using machine = new Machine()
  machine.write(machine.projectFile, helper)
  const store = machine.write(join(machine.home, 'trusted.json'), '{"version":1,')
  expect(await machine.refusal()).toBe(`${store} is damaged; delete it and trust your projects again with "pawl trust".`)
  rmSync(store)
  expect((await machine.load()).untrusted).toBeDefined()
})
