import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adapters } from '../agents/index.ts'
import { ResolvedAgent } from '../domain/agent/agent-config.ts'
import { profileNames } from '../domain/profile/profile.ts'
import { resolveProfile, rightsOf } from '../domain/profile/resolve.ts'
import { explainCall } from '../domain/profile/view.ts'
import { parseCall } from '../domain/rule/call.ts'
import { readRules } from '../sandbox/egress/host-rule.ts'
import { findAgent } from './load.ts'
import { showConfig } from './show.ts'
import { parseSize } from './size.ts'
import { Machine } from './testing.ts'

test('a profile of the settings is whole in the agent that names it, and travels with it', async () => {
  using machine = new Machine()
  machine.write(
    machine.homeFile,
    `profiles:
  team:
    rules: { ask: ["Bash(git push:*)"] }
    network: { allow: [docs.example.com, "*.example.org:8443"] }
    limits: { memory: 2g, file: 512m, processes: 64 }
  web:
    extends: team
    tools: { disabled: [WebSearch] }
    env: [TOKEN, MODE=fast]
    secrets: [NPM_TOKEN, { name: deploy-key, variable: DEPLOY_KEY }]
    skills: [pdf]
    instructions: false
    ssh: { hosts: [{ name: box, host: box.example.com, user: ann, key: box-key, hostKey: ssh-ed25519 AAAA }] }
agents:
  demo: { profile: web }
`,
  )
  const config = await machine.load()
  const agent = findAgent(config, 'demo')
  expect(agent.profile).toBe('web')
  const guarded = resolveProfile('guarded')
  expect(agent.rights).toEqual({
    ...guarded,
    name: 'web',
    rules: { allow: [], ask: ['Bash(git push:*)'], deny: guarded.rules.deny },
    network: { allow: [...guarded.network.allow, 'docs.example.com', '*.example.org:8443'], ask: [], deny: [] },
    limits: { ...guarded.limits, memoryMb: 2048, fileMb: 512, processes: 64 },
    tools: { native: true, disabled: ['WebSearch'] },
    env: { pass: ['TOKEN'], set: { MODE: 'fast' } },
    secrets: [
      { name: 'NPM_TOKEN', variable: 'NPM_TOKEN' },
      { name: 'deploy-key', variable: 'DEPLOY_KEY' },
    ],
    skills: ['pdf'],
    instructions: false,
    ssh: {
      hosts: [{ name: 'box', host: 'box.example.com', port: 22, user: 'ann', key: 'box-key', hostKey: 'ssh-ed25519 AAAA' }],
      mode: 'readonly',
      level: 0,
    },
  })
  const { source: _, ...sent } = agent
  expect(rightsOf(ResolvedAgent.parse(JSON.parse(JSON.stringify(sent))))).toEqual(agent.rights)
})

test('an agent with a built-in profile carries its name only, and one that was stored before there were others opens as it was', async () => {
  using machine = new Machine()
  expect(findAgent(await machine.load(), 'demo')).not.toHaveProperty('rights')
  const stored = ResolvedAgent.parse({ name: 'a', adapter: 'demo', profile: 'strict' })
  expect(rightsOf(stored)).toEqual(resolveProfile('strict'))
})

test('mounts and directories are seen from the file that names them', async () => {
  using machine = new Machine()
  machine.write(
    machine.homeFile,
    `profiles:
  data:
    directories: [./out, cache, /srv/shared]
    mounts:
      - /data:ro
      - ./ref:rw
      - ~/pics
      - { source: ./real, path: /seen, mode: rw, name: input, description: what to read, required: false }
      - { path: ./kept, persistent: true }
agents: { demo: { profile: data } }
`,
  )
  const rights = rightsOf(findAgent(await machine.load(), 'demo'))
  const at = (name: string) => join(machine.home, name)
  const mount = (path: string, mode: string, more = {}) => ({
    name: path.split('/').at(-1),
    description: '',
    source: path,
    path,
    mode,
    persistent: false,
    required: true,
    ...more,
  })
  expect(rights.mounts.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
    mount(at('cache'), 'rw'),
    mount('/data', 'ro'),
    {
      name: 'input',
      description: 'what to read',
      source: at('real'),
      path: '/seen',
      mode: 'rw',
      persistent: false,
      required: false,
    },
    mount(at('kept'), 'rw', { persistent: true }),
    mount(at('out'), 'rw'),
    mount(join(machine.root, 'user/pics'), 'ro'),
    mount(at('ref'), 'rw'),
    mount('/srv/shared', 'rw'),
  ])
})

test('variables of every run lie under the profile, those of a user are kept apart, and values are never shown', async () => {
  using machine = new Machine()
  machine.write(
    machine.homeFile,
    `env: [LANG, REGION=hunter1, MODE=hunter2]
users: { ann: { env: { REGION: hunter3 } } }
profiles: { mine: { env: { MODE: hunter4 } } }
agents: { demo: { profile: mine } }
`,
  )
  const config = await machine.load()
  expect(rightsOf(findAgent(config, 'demo')).env).toEqual({ pass: ['LANG'], set: { REGION: 'hunter1', MODE: 'hunter4' } })
  expect(config.users).toEqual({ ann: { env: { pass: [], set: { REGION: 'hunter3' } }, mounts: [] } })
  const shown = JSON.stringify(showConfig(config))
  expect(shown).not.toContain('hunter')
  expect(shown).toContain('REGION')
})

test('a project that is not trusted may choose a narrower profile, and define or widen none', async () => {
  using machine = new Machine()
  machine.write(
    machine.homeFile,
    `profiles:
  team: { rules: { deny: [WebSearch] }, mounts: [/data] }
  tight: { extends: team, limits: { memory: 1g } }
  loose: { extends: guarded, limits: { memory: 8g } }
agents:
  a: { adapter: demo, profile: team }
  b: { adapter: demo, profile: team }
  c: { adapter: demo, profile: team }
  d: { adapter: demo, profile: team }
  e: { adapter: demo }
`,
  )
  machine.write(
    machine.projectFile,
    `profiles: { mine: { extends: strict }, team: { extends: unattended-open } }
env: [SECRET]
users: { ann: { env: [SECRET] } }
agents:
  a: { profile: tight }
  b: { profile: guarded }
  c: { profile: mine }
  d: { profile: strict }
  e: { profile: loose }
`,
  )
  const config = await machine.load()
  expect(config.untrusted?.keys).toEqual([
    'agents.b.profile',
    'agents.c.profile',
    'agents.d.profile',
    'agents.e.profile',
    'profiles.mine',
    'profiles.team',
    'env.pass',
    'env.set',
    'users.ann',
  ])
  expect(['a', 'b', 'c', 'd', 'e'].map((name) => findAgent(config, name).profile)).toEqual([
    'tight',
    'team',
    'team',
    'team',
    'guarded',
  ])
  expect(rightsOf(findAgent(config, 'a')).base).toBe('guarded')
  expect(config.env).toEqual({ pass: [], set: {} })

  const trusted = await machine.load({ flags: { trust: true } })
  expect(['c', 'a'].map((name) => rightsOf(findAgent(trusted, name)).base)).toEqual(['strict', 'unattended-open'])
})

test('what a file that is to be trusted would mount is shown', async () => {
  using machine = new Machine()
  machine.write(machine.projectFile, 'profiles: { mine: { mounts: [/data:rw], env: { A: hunter } } }\n')
  const { untrusted } = await machine.load()
  expect(untrusted?.values).toEqual([
    { path: 'profiles.mine.mounts', value: [{ path: '/data', source: '/data', mode: 'rw' }] },
    { path: 'profiles.mine.env.pass', value: [] },
    { path: 'profiles.mine.env.set.A', value: '***' },
  ])
})

test('a size is written with its unit, or as a bare number of megabytes', () => {
  const cases: [string | number, number | undefined][] = [
    ['4g', 4096],
    ['512m', 512],
    ['1.5G', 1536],
    ['2 GiB', 2048],
    ['1t', 1_048_576],
    ['1k', 1],
    [100, 100],
    ['100', 100],
    ['', undefined],
    ['4', 4],
    ['-1g', undefined],
    ['4x', undefined],
  ]
  expect(cases.map(([written]) => [written, parseSize(written)])).toEqual(cases)
})

test('the examples of docs/profiles.md are right', async () => {
  using machine = new Machine()
  const page = readFileSync(join(import.meta.dirname, '../../docs/profiles.md'), 'utf8')
  machine.write(machine.homeFile, /```yaml\n(.*?)```/s.exec(page)![1]!)
  const rights = rightsOf(findAgent(await machine.load({ adapters }), 'claude'))
  const examples = [...page.matchAll(/^\$ pawl profile explain --profile careful '(.*)'\n(.*)$/gm)]
  expect(examples.length).toBe(2)
  for (const [, call, said] of examples) {
    const { verdict, why } = explainCall(rights, { ...parseCall(call!), workspace: machine.project })
    expect(`${verdict}  ${why}`).toBe(said)
  }
})

test('network rules are those that connections are held against', async () => {
  for (const name of profileNames) expect(() => readRules(resolveProfile(name).network)).not.toThrow()
  using machine = new Machine()
  const network = {
    allow: ['localhost:4873 local', '127.0.0.1:8080', '[::1]:80', '*'],
    ask: ['*.example.com'],
    deny: ['169.254.169.254'],
  }
  machine.write(
    machine.homeFile,
    JSON.stringify({ profiles: { mine: { extends: 'strict', network } }, agents: { demo: { profile: 'mine' } } }),
  )
  expect(rightsOf(findAgent(await machine.load(), 'demo')).network).toEqual(network)
  machine.write(machine.homeFile, JSON.stringify({ profiles: { mine: { network: { allow: ['169.254.169.254'] } } } }))
  expect(await machine.refusal()).toMatch(/^profiles\.mine\.network\.allow\[0\] in .* cannot be used: The network rule/)
})

test.for(['env: [API_TOKEN=hunter]', 'env: { DB_PASSWORD: hunter }', 'agents: { demo: { env: { MY_KEY: hunter } } }'])(
  'a key does not belong in a settings file: %s',
  async (line) => {
    using machine = new Machine()
    machine.write(machine.homeFile, `${line}\n`)
    const refusal = await machine.load().then(
      () => '',
      (error: unknown) => String(error),
    )
    expect(refusal).toContain('must not hold a key')
    expect(refusal).toContain('pawl secret set')
    expect(refusal).not.toContain('hunter')
  },
)

test('mounts of a user and folders that tasks may name are seen from their file, checked like those of a profile, and shown', async () => {
  using machine = new Machine()
  machine.write(
    machine.homeFile,
    `users:
  ann: { mounts: [/srv/ann:ro, { path: ./notes, persistent: true, description: what was learnt }] }
mounts:
  projects: { path: ./projects, mode: rw, description: all of them, users: [ann] }
`,
  )
  const config = await machine.load()
  const at = (name: string) => join(machine.home, name)
  expect(config.users.ann?.mounts).toMatchObject([
    { source: '/srv/ann', path: '/srv/ann', mode: 'ro', required: false, from: 'user' },
    { source: at('notes'), path: at('notes'), mode: 'rw', persistent: true, description: 'what was learnt', from: 'user' },
  ])
  expect(config.mounts).toEqual({
    projects: { path: at('projects'), mode: 'rw', description: 'all of them', users: ['ann'] },
  })
  expect(showConfig(config)).toContainEqual({ path: 'mounts.projects.path', value: at('projects'), source: expect.any(String) })
  machine.write(machine.homeFile, 'users: { ann: { mounts: [/proc/1] } }\nmounts: { all: { path: / } }\n')
  await expect(machine.load()).rejects.toThrow(
    /users\.ann\.mounts\[0\].*cannot lie in \/proc[\s\S]*mounts\.all\.path.*whole machine/,
  )
})
