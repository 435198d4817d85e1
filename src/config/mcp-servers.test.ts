import { expect, test } from 'vitest'
import { jsonSchema } from './json-schema.ts'
import { showConfig } from './show.ts'
import { Machine } from './testing.ts'

const agents = `agents:
  a: { adapter: custom, command: [x] }
  b: { adapter: custom, command: [x], mcpServers: [git] }
  c: { adapter: custom, command: [x], mcpServers: none }
`
const servers = `mcpServers:
  files: { command: npx, args: [-y, "@scope/server-files", ./data], env: { LEVEL: 1, FILES_TOKEN: { secret: FILES } } }
  git: { type: http, url: "https://mcp.example.com/mcp", headers: { Authorization: "Bearer \${secret:GIT}", X-Team: "\${TEAM:-core}" } }
  old: { type: sse, url: "https://old.example.com/sse", headers: { X-Api-Key: { file: ./old.key } }, timeout: 20s }
  off: { command: x, disabled: true }
`

test('the servers of other programs are taken as they are written, and each agent has those it may', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, agents + servers)
  const config = await machine.load()
  const times = { startTimeoutMs: 30_000, timeoutMs: 300_000 }
  expect(config.mcpServers).toEqual({
    files: {
      kind: 'stdio',
      command: 'npx',
      args: ['-y', '@scope/server-files', `${machine.home}/data`],
      env: { LEVEL: '1', FILES_TOKEN: '${secret:FILES}' },
      ...times,
    },
    git: {
      kind: 'http',
      url: 'https://mcp.example.com/mcp',
      headers: { Authorization: 'Bearer ${secret:GIT}', 'X-Team': '${TEAM:-core}' },
      transport: 'http',
      ...times,
    },
    old: {
      kind: 'http',
      url: 'https://old.example.com/sse',
      headers: { 'X-Api-Key': `\${file:${machine.home}/old.key}` },
      transport: 'sse',
      ...times,
      timeoutMs: 20_000,
    },
  })
  const offered = Object.fromEntries(config.agents.map(({ name, mcpServers = {} }) => [name, Object.keys(mcpServers)]))
  expect(offered).toMatchObject({ a: ['files', 'git', 'old'], b: ['git'], c: [], demo: ['files', 'git', 'old'] })
  const rows = new Map(showConfig(config).map(({ path, value }) => [path, value]))
  expect(rows.get('agents.b.mcpServers')).toEqual(['git'])
  expect(rows.get('mcpServers.git.headers.Authorization')).toBe('Bearer ${secret:GIT}')
  expect(JSON.stringify(jsonSchema([]))).toContain('mcpServers')
})

test('what cannot be a server is refused with what to write instead', async () => {
  using machine = new Machine()
  const refusal = (text: string) => {
    machine.write(machine.homeFile, text)
    return machine.refusal()
  }
  expect(await refusal('mcpServers: { a: { comand: npx } }')).toContain('did you mean "command"?')
  expect(await refusal('mcpServers: { a: { command: x, env: { GITHUB_TOKEN: ghp_abcdef } } }')).toMatch(
    /mcpServers\.a\.env .*must not hold a key.*pawl secret set/,
  )
  expect(
    await refusal('mcpServers: { a: { url: "https://x.example/mcp", headers: { Authorization: "Bearer abc" } } }'),
  ).toContain('must not hold a key')
  expect(await refusal('mcpServers: { a: { url: "https://x.example/mcp?api_key=abc" } }')).toContain(
    'without a user name or a key',
  )
  expect(await refusal('mcpServers: { a: { command: x, url: "https://x.example" } }')).toContain('not both')
  expect(await refusal('mcpServers: { a: { type: http, command: x } }')).toContain('must be stdio')
  expect(await refusal('mcpServers: { a: { command: x, headers: { a: b } } }')).toContain('must be left out')
  expect(await refusal('mcpServers: { a: { command: x, args: ["${oh no}"] } }')).toContain('${secret:NAME}')
  expect(await refusal('mcpServers: { a: { command: x, timeout: 30000 } }')).toContain('at most 10m')
  expect(await refusal('mcpServers: { pawl: { command: x } }')).toContain('another name')
  expect(
    await refusal('agents: { a: { adapter: custom, command: [x], mcpServers: [gitt] } }\nmcpServers: { git: { command: x } }'),
  ).toContain('names a server of tools "gitt", which does not exist; did you mean "git"?')
})

test('a repository that is not trusted adds no server, and may only take some away', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, agents + servers)
  machine.write(
    machine.projectFile,
    'mcpServers: { mine: { command: ./evil } }\nagents: { a: { mcpServers: [git] }, c: { mcpServers: all } }\n',
  )
  const config = await machine.load()
  const offered = Object.fromEntries(config.agents.map(({ name, mcpServers = {} }) => [name, Object.keys(mcpServers)]))
  expect(offered).toMatchObject({ a: ['git'], c: [] })
  expect(Object.keys(config.mcpServers)).toEqual(['files', 'git', 'old'])
  expect(config.untrusted?.keys).toEqual(['agents.c.mcpServers', 'mcpServers.mine'])
})
