import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ResolvedAgent } from '../domain/agent/agent-config.ts'
import { defaultGuardrails } from '../domain/run/guardrails.ts'
import { loadConfig } from './config.ts'
import { findAgent } from './load.ts'
import { Machine } from './testing.ts'

const helper = 'agents:\n  helper: { adapter: custom, command: [./my-agent, --batch] }\n'

test('without any file the defaults and the built-in agents are in force', async () => {
  using machine = new Machine()
  expect(await machine.load()).toEqual({
    again: expect.any(Function),
    agentsWithChosenServers: [],
    home: machine.home,
    files: { project: undefined, home: undefined },
    agents: [
      {
        name: 'demo',
        adapter: 'demo',
        source: 'builtin',
        profile: 'guarded',
        options: { pace: 1 },
        env: { pass: [], set: {} },
        budget: { usd: 5 },
        timeoutMs: 86_400_000,
        idleTimeoutMs: 300_000,
        graceMs: 10_000,
        retry: { attempts: 3, baseDelayMs: 5_000, maxDelayMs: 600_000 },
      },
    ],
    defaultAgent: undefined,
    limits: { running: 4, perAgent: {}, maxQueued: 100_000, warm: 4, usageWindows: 20 },
    retry: { attempts: 3, baseDelayMs: 5_000, maxDelayMs: 600_000 },
    timeouts: { totalMs: 86_400_000, idleMs: 300_000, graceMs: 10_000, warmMs: 180_000 },
    profiles: {},
    env: { pass: [], set: {} },
    users: {},
    mounts: {},
    schedules: [],
    providers: {},
    mcpServers: {},
    models: {},
    server: { host: '127.0.0.1', port: 7295, allowedHosts: [], workspaces: [], tls: null },
    secrets: {},
    notifications: [],
    questions: { afterDeadline: { kind: 'deny' }, grantsLastMs: 604_800_000, liveWindowMs: 20_000 },
    prices: {},
    budget: { timeZone: 'UTC' },
    guardrails: { ...defaultGuardrails, models: {} },
    fileLimits: expect.objectContaining({ uploadMb: 10 }),
    recordings: { maxMb: 200 },
    backup: {
      everyMs: undefined,
      keep: 10,
      folder: join(machine.home, 'backups'),
      withWorkspaces: false,
      withLogs: false,
    },
    a2a: {
      enabled: true,
      url: undefined,
      publicCards: false,
      grpcPort: undefined,
      push: { allowPrivate: false },
    },
    push: { contact: 'mailto:pawl@example.com', allowPrivate: false },
    elaborate: undefined,
    log: { level: 'info', format: 'auto' },
    database: {},
    noColor: false,
    failpoints: [],
    untrusted: undefined,
    notes: [],
    sources: expect.objectContaining({ home: 'default', 'server.port': 'default', 'agents.demo.timeout': 'default' }),
  })
})

test('empty files, and blocks with nothing below them, are fine', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, '')
  machine.write(machine.projectFile, '# nothing yet\nagents:\nlimits:\n  perAgent:\n')
  const config = await machine.load()
  expect(config.limits).toEqual({ running: 4, perAgent: {}, maxQueued: 100_000, warm: 4, usageWindows: 20 })
  expect(config.files).toEqual({ project: machine.projectFile, home: machine.homeFile })
  expect(config.untrusted).toBeUndefined()
})

test('the project wins over the home, key by key, and its agents come first', async () => {
  using machine = new Machine()
  machine.write(
    machine.homeFile,
    `agents:
  reviewer: { adapter: custom, command: [review], model: big, budget: { usd: 3, turns: 9 }, timeout: 20m, env: [TOKEN, MODE=a] }
limits: { running: 8, perAgent: { reviewer: 2 } }
`,
  )
  machine.write(
    machine.projectFile,
    `agents:
  helper: { adapter: custom, command: [./bin/help], options: { output: json } }
  reviewer: { model: small, budget: { usd: 1 }, timeout: 0, idleTimeout: 90, retries: 0 }
  demo: { pace: 2 }
limits: { running: 2 }
defaultAgent: helper
`,
  )
  const config = await machine.load({ flags: { trust: true } })
  expect(config.agents.map(({ name, source }) => [name, source])).toEqual([
    ['helper', 'project'],
    ['reviewer', 'project'],
    ['demo', 'project'],
  ])
  expect(findAgent(config, 'helper').options).toEqual({
    command: [join(machine.project, 'bin/help')],
    prompt: 'stdin',
    output: 'json',
  })
  expect(findAgent(config, 'reviewer')).toMatchObject({
    model: 'small',
    options: { command: ['review'] },
    budget: { usd: 1, turns: 9 },
    timeoutMs: null,
    idleTimeoutMs: 90_000,
    env: { pass: ['TOKEN'], set: { MODE: 'a' } },
    retry: { attempts: 1 },
  })
  expect(findAgent(config, 'demo').options).toEqual({ pace: 2 })
  expect(config.limits).toEqual({ running: 2, perAgent: { reviewer: 2 }, maxQueued: 100_000, warm: 4, usageWindows: 20 })
  expect(config.defaultAgent).toBe('helper')
})

test('an agent that changes its adapter keeps nothing of the old one', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, 'agents:\n  one: { adapter: custom, command: [x], model: big }\n')
  machine.write(machine.projectFile, 'agents:\n  one: { adapter: demo }\n')
  const one = findAgent(await machine.load({ flags: { trust: true } }), 'one')
  expect([one.adapter, one.options, one.model]).toEqual(['demo', { pace: 1 }, undefined])
})

test('the nearest pawl.yaml counts, and none beyond the git root', async () => {
  using machine = new Machine()
  const deep = join(machine.project, 'a', 'b')
  mkdirSync(deep, { recursive: true })
  machine.write(join(machine.root, 'work', 'pawl.yaml'), 'limits: { running: 1 }')
  expect((await machine.load({ cwd: deep })).limits.running).toBe(4)
  machine.write(machine.projectFile, 'limits: { running: 3 }')
  expect((await machine.load({ cwd: deep })).limits.running).toBe(3)
  machine.write(join(machine.project, 'a', 'pawl.yaml'), 'limits: { running: 2 }')
  expect((await machine.load({ cwd: deep })).limits.running).toBe(2)
})

test('a resolved agent is plain JSON and passes its own schema', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, helper)
  const { source, ...agent } = findAgent(await machine.load(), 'helper')
  expect(source).toBe('home')
  expect(JSON.parse(JSON.stringify(agent))).toEqual(agent)
  expect(ResolvedAgent.parse(agent)).toEqual(agent)
})

test('nobody can change the settings after they are loaded', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, helper)
  const config = await machine.load()
  expect(() => (findAgent(config, 'helper').options.command as string[]).push('x')).toThrow(TypeError)
  expect(() => Object.assign(config.limits, { running: 99 })).toThrow(TypeError)
})

test('the environment wins over files, a flag wins over both, and each is named as the source', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, 'server: { port: 1000, host: 127.0.0.2 }\nlog: { level: warn }\n')
  const env = {
    PAWL_PORT: '2000',
    PAWL_AGENT: 'demo',
    PAWL_LOG_LEVEL: 'debug',
    PAWL_DATABASE_URL: 'postgres://a/b',
    PAWL_RUN_ID: 'x',
    NO_COLOR: '1',
    PAWL_FAILPOINT: 'task.move=kill:2,other=pause',
  }
  const config = await machine.load({ env, flags: { port: 3000 } })
  expect(config).toMatchObject({
    server: { port: 3000, host: '127.0.0.2' },
    log: { level: 'debug' },
    defaultAgent: 'demo',
    database: { url: 'postgres://a/b' },
    noColor: true,
    failpoints: [
      { name: 'task.move', action: 'kill', skip: 2 },
      { name: 'other', action: 'pause', skip: 0 },
    ],
  })
  expect(config.sources).toMatchObject({
    'server.port': 'flag --port',
    'server.host': `${machine.homeFile}:1`,
    'log.level': 'env PAWL_LOG_LEVEL',
    'database.url': 'env PAWL_DATABASE_URL',
    defaultAgent: 'env PAWL_AGENT',
  })
})

test('bad variables and flags are refused together, without repeating their values', async () => {
  using machine = new Machine()
  const env = {
    PAWL_PROT: '1',
    PAWL_PORT: '99999',
    PAWL_DATABASE_URL: 'mysql://me:hunter2@x',
    PAWL_TRUST: 'maybe',
    PAWL_LOG_LEVEL: 'loud',
  }
  const message = await machine.refusal({ env, flags: { port: -1 } })
  expect(message.split('\n')).toEqual([
    '6 problems in the settings:',
    '  - Unknown variable PAWL_PROT in the environment; did you mean "PAWL_PORT"?',
    '  - PAWL_PORT in the environment must be a port between 0 and 65535.',
    '  - PAWL_DATABASE_URL in the environment must be a postgres:// URL.',
    '  - PAWL_LOG_LEVEL in the environment must be one of debug, info, warn, error.',
    '  - PAWL_TRUST in the environment must be 1 or 0.',
    '  - --port must be a port between 0 and 65535.',
  ])
})

test('the home is made on first use, for its owner only', async () => {
  using machine = new Machine()
  const config = await machine.load({ env: { PAWL_HOME: '~/deep/pawl' } })
  expect(config.home).toBe(join(machine.root, 'user', 'deep', 'pawl'))
  expect(statSync(config.home).mode & 0o777).toBe(0o700)
  expect((await machine.load({ flags: { home: 'here' } })).home).toBe(join(machine.project, 'here'))
})

test('a home that is a file, or lies below one, is refused', async () => {
  using machine = new Machine()
  const file = machine.write(join(machine.root, 'file'), 'x')
  for (const home of [file, join(file, 'below')])
    expect(await machine.refusal({ flags: { home } })).toBe(
      `Pawl's home ${home} is not a folder; choose another folder with PAWL_HOME.`,
    )
})

test('a home that cannot be written is refused', async () => {
  using machine = new Machine()
  const home = join(machine.root, 'closed')
  mkdirSync(home, { mode: 0o555 })
  // Root may write everywhere, so the check needs somebody who may not.
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(65534)
  try {
    const message = await loadConfig({ cwd: '/', env: { PAWL_HOME: home }, adapters: [] }).then(
      () => 'accepted',
      (error: Error) => error.message,
    )
    expect(message).toMatch(/^Pawl's home .*closed cannot be (written|made) \(EACCES\); choose another folder with PAWL_HOME\.$/)
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
})

test('an agent that does not exist is refused with those that do', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, helper)
  const config = await machine.load()
  expect(() => findAgent(config, 'helpr')).toThrow('There is no agent "helpr" (there are helper, demo); did you mean "helper"?')
  expect(() => findAgent(config, 'command')).toThrow(
    'There is no agent "command" (there are helper, demo); name a command of your own under "agents:" ("pawl init" shows how).',
  )
})

test('prices, budgets and guardrails are decided, with what was left out in place', async () => {
  using machine = new Machine()
  machine.write(
    machine.homeFile,
    'prices: { "qwen*": { input: 0, output: 1 } }\nbudget: { day: 20, timeZone: Europe/Berlin }\nguardrails: { sameCall: 9, models: { "small-*": { silentTurns: 0 } } }\n',
  )
  const config = await machine.load()
  expect(config.prices).toEqual({ 'qwen*': { input: 0, output: 1, cacheRead: 0, cacheWrite: 0 } })
  expect(config.budget).toEqual({ day: 20, timeZone: 'Europe/Berlin' })
  expect(config.guardrails).toEqual({ ...defaultGuardrails, sameCall: 9, models: { 'small-*': { silentTurns: 0 } } })
})

test('what a project says about money and guardrails counts only if it is trusted', async () => {
  using machine = new Machine()
  machine.write(
    machine.projectFile,
    'prices: { "*": { input: 0, output: 0 } }\nbudget: { day: 1000000 }\nguardrails: { sameError: 0 }\n',
  )
  const config = await machine.load()
  expect(config).toMatchObject({ prices: {}, budget: { timeZone: 'UTC' }, guardrails: defaultGuardrails })
  expect(config.untrusted?.keys).toEqual(['prices["*"]', 'budget.day', 'guardrails.sameError'])
})
