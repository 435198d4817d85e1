import { expect, test } from 'vitest'
import { toolAccess } from '../../domain/profile/access.ts'
import { resolveProfile } from '../../domain/profile/resolve.ts'
import { restricted } from '../../domain/profile/restrict.ts'
import type { LaunchSpec } from '../port.ts'
import { codexCommand } from './command.ts'
import { CodexOptions } from './options.ts'
import { ownTools } from './rules.ts'
import { chooseTransport } from './transport.ts'

const session = '01a1de03-f204-73f1-a540-d5327fbf2880'
const spec = (more: Partial<LaunchSpec<CodexOptions>> = {}): LaunchSpec<CodexOptions> => ({
  options: CodexOptions.parse({}),
  prompt: 'a secret prompt',
  workspace: '/w',
  home: '/h',
  extraArgs: [],
  ...more,
})
const config = (more: Partial<LaunchSpec<CodexOptions>> = {}) =>
  String(codexCommand(spec(more)).files?.['.codex/config.toml'] ?? '')

test('the program that was probed is started as app-server, and the prompt is nowhere in sight', () => {
  const command = codexCommand(spec({ program: '/opt/codex', extraArgs: ['-c', 'x=1'] }))
  expect(command).toMatchObject({
    file: '/opt/codex',
    args: ['app-server', '-c', 'x=1'],
    env: { CODEX_HOME: '/h/.codex', NO_COLOR: '1' },
  })
  expect(JSON.stringify(command)).not.toContain('secret prompt')
})

test.each([
  ['auto', '0.166.0', 'app-server'],
  ['auto', '0.80.0', 'app-server'],
  ['auto', '0.79.9', 'exec'],
  ['auto', undefined, 'app-server'],
  ['auto', 'built by hand', 'app-server'],
  ['exec', '0.166.0', 'exec'],
  ['app-server', '0.70.0', 'app-server'],
] as const)('%s with version %s is spoken to by %s', (transport, version, chosen) => {
  expect(chooseTransport({ options: CodexOptions.parse({ transport }), version })).toBe(chosen)
})

test('exec takes its prompt by stdin, resumed or not, with the schema as a file', () => {
  const options = CodexOptions.parse({ transport: 'exec', args: ['--ephemeral'] })
  const outputSchema = { type: 'object' }
  expect(codexCommand(spec({ options, outputSchema })).args).toEqual([
    'exec',
    ...['--json', '--skip-git-repo-check', '--output-schema', '/h/.codex/pawl-output-schema.json', '--ephemeral', '-'],
  ])
  expect(codexCommand(spec({ options, outputSchema })).files).toMatchObject({
    '.codex/pawl-output-schema.json': '{"type":"object"}',
  })
  expect(codexCommand(spec({ options, resume: session })).args).toEqual([
    ...['exec', 'resume', '--json', '--skip-git-repo-check', '--ephemeral', session, '-'],
  ])
})

test('its own sandbox is off inside walls that hold, and only there', () => {
  expect(config({ walled: true })).toMatch(/^sandbox_mode = "danger-full-access"\napproval_policy = "never"$/m)
  expect(config({ walled: false })).toContain('sandbox_mode = "workspace-write"')
  expect(config()).toContain('sandbox_mode = "workspace-write"')
})

test('its databases are kept in memory inside walls that hold, and only there', () => {
  expect(codexCommand(spec({ walled: true })).env).toMatchObject({ CODEX_SQLITE_HOME: '/tmp/codex-databases' })
  expect(codexCommand(spec()).env).not.toHaveProperty('CODEX_SQLITE_HOME')
})

test('a model is named only if one is configured', () => {
  expect(config({ model: 'a-model' })).toMatch(/^model = "a-model"$/m)
  expect(config()).not.toMatch(/^model =/m)
})

test('a workspace is never trusted, whatever its name', () => {
  expect(config({ workspace: '/w/a "b"\n[x]' })).toContain('[projects."/w/a \\"b\\"\\n[x]"]\ntrust_level = "untrusted"')
})

test.each([
  [
    'a key for its own service',
    { access: { kind: 'variable', name: 'CODEX_API_KEY' } },
    ['name = "OpenAI"', 'base_url = "https://api.openai.com/v1"', 'env_key = "CODEX_API_KEY"'],
  ],
  [
    'a key for another endpoint',
    { access: { kind: 'variable', name: 'K' }, baseUrl: 'http://m/v1' },
    ['name = "Pawl"', 'base_url = "http://m/v1"', 'env_key = "K"'],
  ],
  ['its own login', { access: { kind: 'login' } }, ['name = "OpenAI"', 'requires_openai_auth = true']],
  [
    'an endpoint that needs no key',
    { access: { kind: 'none' }, baseUrl: 'http://m/v1' },
    ['name = "Pawl"', 'base_url = "http://m/v1"'],
  ],
  ['nothing said at all', {}, ['name = "OpenAI"', 'requires_openai_auth = true']],
] as const)('%s is the one provider pawl, whose retries are ours', (_, more, lines) => {
  const table = config(more).split('[model_providers.pawl]\n')[1]?.split('\n\n')[0]?.split('\n') ?? []
  const fixed = ['request_max_retries = 0', 'stream_idle_timeout_ms = 240000', 'stream_max_retries = 0', 'wire_api = "responses"']
  expect(table.toSorted()).toEqual([...lines, ...fixed].toSorted())
})

test('the system prompt and the AGENTS.md of the repository are instructions, and its text stays a text', () => {
  const instructions = [{ path: 'AGENTS.md', text: 'Use tabs."\nsandbox_mode = "x"', isCut: false }]
  const given = config({ systemPrompt: 'Be kind.', instructions })
  expect(given).toMatch(
    /^developer_instructions = "Be kind\.\\n\\nWhat follows are the instructions of the repository.*Use tabs\.\\"\\nsandbox_mode = \\"x\\"/m,
  )
  expect(config({ systemPrompt: 'Be kind.' })).toContain('developer_instructions = "Be kind."\n')
  expect(config()).not.toContain('developer_instructions')
})

test('our tools are named only where they are served', () => {
  expect(codexCommand(spec()).args.join(' ')).not.toContain('mcp_servers')
  expect(codexCommand(spec({ tools: true })).args).toContain('mcp_servers.pawl.url="{{PAWL_DOOR_URL}}/mcp"')
})

test('a home below the folder for temporary files gets another one of its own', () => {
  expect(codexCommand(spec({ home: '/tmp/pawl/h' }))).toMatchObject({
    env: { TMPDIR: '/tmp/pawl/h/tmp' },
    files: { 'tmp/.pawl': '' },
  })
  expect(codexCommand(spec({ home: '/tmpfs/h' })).env).not.toHaveProperty('TMPDIR')
})

test('what it cannot do is refused by name', () => {
  expect(() => codexCommand(spec({ newSession: session }))).toThrow(/names its conversations itself/)
  expect(() => codexCommand(spec({ resume: '../../etc/passwd' }))).toThrow(/UUIDs/)
  expect(() => codexCommand(spec({ access: { kind: 'script', path: '/k' } }))).toThrow(/script/)
  expect(() => codexCommand(spec({ extraArgs: ['a\0b'] }))).toThrow(/NUL/)
})

test.each([
  [{ transport: 'carrier-pigeon' }, 'transport'],
  [{ reasoningEffort: 'very high' }, 'reasoningEffort'],
  [{ approvals: 'always' }, 'approvals'],
  [{ command: '' }, 'command'],
  [{ args: ['a\0'] }, 'args.0'],
])('the options %o are refused at %s', (options, where) => {
  expect(CodexOptions.safeParse(options).error?.issues.map((issue) => issue.path.join('.'))).toEqual([where])
})

test.each([
  ['--dangerously-bypass-approvals-and-sandbox'],
  ['-s', 'danger-full-access'],
  ['--sandbox=danger-full-access'],
  ['-c', 'approval_policy="never"'],
  ['-c', 'sandbox_workspace_write.network_access=true'],
  ['-cmodel_providers.other.base_url="http://elsewhere"'],
  ['--config=mcp_servers.pawl.url="http://elsewhere"'],
])('an extra argument that would decide what Pawl decides is refused: %s', (...args) => {
  expect(() => codexCommand(spec({ extraArgs: args }))).toThrow(/Pawl itself decides it/)
})

test('other extra arguments are passed on, and a mode of thinking is refused with what to use', () => {
  const { args } = codexCommand(spec({ extraArgs: ['-c', 'mcp_servers.mine.command="x"', '--enable', 'thing'] }))
  expect(args.slice(-4)).toEqual(['-c', 'mcp_servers.mine.command="x"', '--enable', 'thing'])
  expect(() => codexCommand(spec({ model: 'gpt-5:mode=thinking' }))).toThrow(/reasoningEffort/)
})

test('a model that is served at the door is named in the arguments, where its address is put in, and any other in the file alone', () => {
  const inside = codexCommand(spec({ baseUrl: '{{PAWL_DOOR_URL}}/model' }))
  expect(inside.args).toContain('model_providers.pawl.base_url="{{PAWL_DOOR_URL}}/model"')
  const elsewhere = spec({ baseUrl: 'http://127.0.0.1:1/v1' })
  expect(codexCommand(elsewhere).args.join(' ')).not.toContain('base_url')
  expect(config(elsewhere)).toContain('base_url = "http://127.0.0.1:1/v1"')
})

test('skills are looked for nowhere but named in the instructions, and helpers are off unless all are allowed', () => {
  const items = [{ name: 'review', description: 'Reviews.', path: '/run/pawl/skills/review' }]
  const given = config({ skills: { own: true, folder: '/run/pawl', items }, subagents: { own: [], items: [] } })
  expect(given).toContain('[skills]\ninclude_instructions = false\n\n[skills.bundled]\nenabled = false')
  expect(given).toMatch(/^developer_instructions = .*\/run\/pawl\/skills\/review\/SKILL\.md/m)
  expect(given).toContain('\nmulti_agent = false\n')
  expect(config({ subagents: { own: 'all', items: [] } })).not.toContain('multi_agent')
})

test('tools that the profile disables are switched off', () => {
  const text = config({ disabledTools: ['WebSearch', 'Bash', 'Task', 'view_image'] })
  for (const line of ['web_search = "disabled"', 'shell_tool = false', 'view_image = false', 'multi_agent = false'])
    expect(text.split('\n')).toContain(line)
  expect(config()).not.toMatch(/shell_tool|view_image|web_search/)
})

test.each([
  ['tools.native', { native: false }],
  ['tools.disabled', { disabledTools: ['Edit'] }],
])('what it cannot be kept from is refused: %s', (setting, given) => {
  expect(() => codexCommand(spec(given))).toThrow(
    `Codex cannot be kept from its own tool for changing files, as ${setting} of the profile wants`,
  )
})

test('a long call of our tools is waited for', () => {
  expect(codexCommand(spec({ tools: true })).args).toContain('mcp_servers.pawl.tool_timeout_sec=660')
})

test('a list of tools that need no permission is refused by name', () => {
  expect(() => codexCommand(spec({ allowedTools: ['Bash'] }))).toThrow(/Codex takes no list of tools .* Leave allowedTools out\./)
})

test('what one task may not use is taken away, resumed or not', () => {
  const profile = restricted(resolveProfile('guarded'), { disallowedTools: ['Bash', 'WebSearch'] })
  const wanted = { toolAccess: toolAccess(profile, ownTools), systemPrompt: 'Be brief.', version: '0.166.0' }
  expect(config(wanted)).not.toBe(config({ ...wanted, toolAccess: toolAccess(resolveProfile('guarded'), ownTools) }))
  expect(config({ ...wanted, resume: session })).toBe(config(wanted))
})
