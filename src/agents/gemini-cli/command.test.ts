import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ToolAccess } from '../../domain/profile/access.ts'
import type { LaunchSpec } from '../port.ts'
import { geminiCli } from './agent.ts'
import { geminiCommand } from './command.ts'
import { GeminiCliOptions } from './options.ts'

const id = '33333333-3333-4333-8333-333333333333'
const spec = (changes: Partial<LaunchSpec<GeminiCliOptions>> = {}): LaunchSpec<GeminiCliOptions> => ({
  options: GeminiCliOptions.parse({}),
  prompt: 'hello',
  workspace: '/workspace',
  home: '/home/agent',
  extraArgs: [],
  walled: true,
  access: { kind: 'variable', name: 'GEMINI_API_KEY' },
  ...changes,
})
const fileOf = (name: string, changes: Partial<LaunchSpec<GeminiCliOptions>> = {}) =>
  String(geminiCommand(spec(changes)).files?.[name])
const settingsOf = (changes: Partial<LaunchSpec<GeminiCliOptions>> = {}) => JSON.parse(fileOf('.gemini/settings.json', changes))
const oneShot = GeminiCliOptions.parse({ transport: 'one-shot' })

test('a new conversation is spoken to by ACP, one that is gone on with by a one-shot call with its id', () => {
  expect(geminiCommand(spec()).args).toEqual(expect.arrayContaining(['--acp', '--approval-mode=yolo']))
  const { args } = geminiCommand(spec({ resume: id }))
  expect(args).toEqual(expect.arrayContaining(['--output-format=stream-json', `--resume=${id}`]))
  expect(args).not.toContain('--acp')
  expect(geminiCommand(spec({ options: oneShot })).args).not.toContain('--acp')
})

test.each(['', 'latest', '1', `${id} `])('%j is no conversation and is not passed on', (resume) => {
  expect(() => geminiCommand(spec({ resume }))).toThrow('not a conversation of Gemini CLI')
})

test('a model is named only if one was chosen', () => {
  expect(geminiCommand(spec({ model: 'gemini-2.5-pro' })).args).toContain('--model=gemini-2.5-pro')
  expect(geminiCommand(spec()).args.join(' ')).not.toContain('--model')
})

test('arguments of the configuration come last, and the prompt is none of them', () => {
  const { args } = geminiCommand(spec({ options: GeminiCliOptions.parse({ args: ['--debug'] }), extraArgs: ['--raw-output'] }))
  expect(args.slice(-2)).toEqual(['--debug', '--raw-output'])
  expect(args).not.toContain('hello')
})

test.each([
  '--yolo',
  '-y',
  '-dy',
  '-pdo it',
  '--approval-mode=default',
  '--approvalMode=default',
  '--no-acp',
  '--resume',
  '--policy=x',
  '--',
  '--skip-trust',
])('the argument %s is refused: it would take out of our hands what we decide', (argument) => {
  expect(() => geminiCommand(spec({ extraArgs: [argument] }))).toThrow('Pawl itself decides it')
})

test('the system prompt is the GEMINI.md of the session home, and no word of it becomes a file', () => {
  const instructions = [{ path: 'AGENTS.md', text: '@./settings.json and\n@/etc/passwd', isCut: false }]
  const text = fileOf('.gemini/GEMINI.md', { systemPrompt: 'Be brief. Ask @bob, me@x.org, or see @./notes.md', instructions })
  expect(text).toContain('Be brief. Ask \\@bob, me@x.org, or see \\@./notes.md')
  expect(text).toContain('[AGENTS.md of the repository]\n```text\n\\@./settings.json and\n\\@/etc/passwd\n```')
  expect(fileOf('.gemini/GEMINI.md', { systemPrompt: 'Be brief.', instructions: false })).toBe('Be brief.')
})

test('our tools are in its settings, with the token in no file', () => {
  const { pawl } = settingsOf({ tools: true }).mcpServers
  expect(pawl).toMatchObject({ httpUrl: '$' + '{PAWL_DOOR_URL}/mcp', trust: true })
  expect(pawl.headers.Authorization).toBe('Bearer $' + '{PAWL_DOOR_TOKEN}')
  expect(geminiCommand(spec({ tools: true })).args).toContain('--allowed-mcp-server-names=pawl')
  expect(settingsOf().mcpServers).toEqual({})
})

test('what it would do by itself is switched off', () => {
  expect(settingsOf()).toMatchObject({
    general: { enableAutoUpdate: false, maxAttempts: 1, retryFetchErrors: false, sessionRetention: { enabled: false } },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    hooksConfig: { enabled: false },
    advanced: { ignoreLocalEnv: true },
  })
})

test('it is let in by key, by its own login, or by any key where none is wanted', () => {
  const authOf = (changes: Partial<LaunchSpec<GeminiCliOptions>>) => settingsOf(changes).security.auth.selectedType
  expect(authOf({})).toBe('gemini-api-key')
  expect(geminiCommand(spec()).env).toMatchObject({ GOOGLE_GEMINI_BASE_URL: 'https://generativelanguage.googleapis.com' })
  expect(authOf({ access: { kind: 'login' } })).toBe('oauth-personal')
  expect(geminiCommand(spec({ access: { kind: 'login' } })).env).not.toHaveProperty('GOOGLE_GEMINI_BASE_URL')
  const open = { access: { kind: 'none' }, baseUrl: 'http://127.0.0.1:1' } as const
  expect(geminiCommand(spec(open)).env).toMatchObject({ GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:1' })
  expect(() => geminiCommand(spec({ access: { kind: 'script', path: '/key.sh' } }))).toThrow('takes no key from a script')
})

test('the least limit of turns counts', () => {
  expect(settingsOf().model.maxSessionTurns).toBe(-1)
  expect(settingsOf({ maxTurns: 7, options: GeminiCliOptions.parse({ maxTurns: 5 }) }).model.maxSessionTurns).toBe(5)
})

const access = (changes: Partial<ToolAccess>): ToolAccess => ({
  free: [],
  checked: [],
  absent: [],
  because: Object.fromEntries(
    [...(changes.checked ?? []), ...(changes.absent ?? [])].map((tool) => [tool, { from: 'rules.deny', text: `deny ${tool}` }]),
  ),
  ...changes,
})

test('what a rule is about comes to us where a call tells enough, and is taken away where it does not', () => {
  const given = {
    toolAccess: access({ checked: ['run_shell_command', 'web_fetch'], absent: ['write_file'] }),
    disabledTools: ['LS'],
  }
  const policy = fileOf('.gemini/pawl-policy.toml', given)
  expect(policy).toMatch(/toolName = "run_shell_command"\ndecision = "ask_user"/)
  const { core } = settingsOf(given).tools
  expect(core).toEqual(expect.arrayContaining(['run_shell_command', 'read_file', 'replace']))
  for (const tool of ['web_fetch', 'write_file', 'list_directory', 'ask_user', 'save_memory']) expect(core).not.toContain(tool)
})

test('where nobody has decided anything and no walls hold, it asks before it changes something', () => {
  const policy = fileOf('.gemini/pawl-policy.toml', { walled: false })
  for (const tool of ['run_shell_command', 'write_file', 'replace']) expect(policy).toContain(`toolName = "${tool}"`)
  expect(fileOf('.gemini/pawl-policy.toml')).not.toContain('ask_user')
})

test('it can do without its own tools, and has no helpers where the profile allows none', () => {
  expect(settingsOf({ native: false }).tools.core).toEqual([])
  expect(settingsOf({ subagents: { own: [], items: [] } }).tools.core).not.toContain('invoke_agent')
})

test('a rule that needs an answer is refused to one-shot calls, and such a conversation is told to a new process', () => {
  const toolAccess = access({ checked: ['run_shell_command'] })
  expect(() => geminiCommand(spec({ options: oneShot, toolAccess }))).toThrow('can ask nobody; leave the option transport out')
  expect(() => geminiCommand(spec({ resume: id, toolAccess }))).toThrow('begin a new conversation')
  expect(() => geminiCommand(spec({ toolAccess }))).not.toThrow()
  const goesOn = (changes: object) => geminiCli.goesOn?.({ options: GeminiCliOptions.parse({}), ...changes })
  expect([goesOn({}), goesOn({ toolAccess }), goesOn({ options: GeminiCliOptions.parse({ transport: 'acp' }) })]).toEqual([
    true,
    false,
    false,
  ])
})

test('without walls a workspace with a .gemini folder is refused, because the program would obey it', () => {
  const workspace = mkdtempSync(join(tmpdir(), 'pawl-gemini-'))
  onTestFinished(() => rmSync(workspace, { recursive: true }))
  expect(() => geminiCommand(spec({ workspace, walled: false }))).not.toThrow()
  mkdirSync(join(workspace, '.gemini'))
  expect(() => geminiCommand(spec({ workspace, walled: false }))).toThrow('run the task within walls')
  expect(() => geminiCommand(spec({ workspace }))).not.toThrow()
  rmSync(join(workspace, '.gemini'), { recursive: true })
  writeFileSync(join(workspace, 'GEMINI.md'), 'obey')
  expect(() => geminiCommand(spec({ workspace, walled: false }))).not.toThrow()
  expect(() => geminiCommand(spec({ workspace, walled: false, instructions: false }))).toThrow('GEMINI.md of the workspace')
})

test('a conversation that was brought from elsewhere is looked for where it lies', () => {
  const home = mkdtempSync(join(tmpdir(), 'pawl-gemini-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  const slugOf = () => JSON.parse(String(geminiCommand(spec({ home, resume: id })).files?.['.gemini/projects.json']))
  expect(slugOf()).toEqual({ projects: { '/workspace': 'pawl' } })
  mkdirSync(join(home, '.gemini/tmp/their-project/chats'), { recursive: true })
  writeFileSync(join(home, '.gemini/tmp/their-project/chats/session-2026-11-15T10-00-33333333.jsonl'), '{}\n')
  expect(slugOf()).toEqual({ projects: { '/workspace': 'their-project' } })
})
