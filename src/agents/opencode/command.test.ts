import { expect, test } from 'vitest'
import { toolAccess } from '../../domain/profile/access.ts'
import { resolveProfile, type UserProfiles } from '../../domain/profile/resolve.ts'
import type { LaunchSpec } from '../port.ts'
import { opencodeCommand } from './command.ts'
import { OpencodeOptions } from './options.ts'
import { ownTools } from './permissions.ts'
import { chooseTransport } from './versions.ts'

const spec = (more: Partial<LaunchSpec<OpencodeOptions>> = {}): LaunchSpec<OpencodeOptions> => ({
  options: OpencodeOptions.parse({}),
  model: 'some-model',
  prompt: 'a secret prompt',
  workspace: '/w',
  home: '/h',
  extraArgs: [],
  ...more,
})
const config = (more: Partial<LaunchSpec<OpencodeOptions>> = {}) =>
  JSON.parse(opencodeCommand(spec(more)).env.OPENCODE_CONFIG_CONTENT ?? '')
const accessOf = (settings: UserProfiles[string]) => toolAccess(resolveProfile('mine', { mine: settings }), ownTools)

test('the program that was probed is started in the workspace, and the prompt is nowhere in sight', () => {
  const command = opencodeCommand(spec({ program: '/opt/opencode', extraArgs: ['--log-level', 'DEBUG'] }))
  expect(command).toMatchObject({ file: '/opt/opencode', args: ['acp', '--cwd', '/w', '--log-level', 'DEBUG'] })
  expect(JSON.stringify(command)).not.toContain('secret prompt')
})

test.each([
  ['auto', '1.18.33', 'acp'],
  ['auto', '1.17.9', 'run'],
  ['auto', undefined, 'acp'],
  ['auto', 'built by hand', 'acp'],
  ['run', '1.18.33', 'run'],
  ['acp', '1.0.0', 'acp'],
] as const)('the transport %s with version %s is %s', (transport, version, expected) => {
  expect(chooseTransport({ options: OpencodeOptions.parse({ transport }), version })).toBe(expected)
})

test('a run always names its folder: from another one it would work unseen', () => {
  const options = OpencodeOptions.parse({ transport: 'run' })
  expect(opencodeCommand(spec({ options })).args).toEqual(['run', '--format', 'json', '--dir', '/w'])
  const { args } = opencodeCommand(spec({ options, program: '/opt/opencode', resume: 'ses_0123456789abcdef' }))
  const own = args.slice(args.indexOf('/opt/opencode') + 1)
  expect(own).toEqual(['run', '--format', 'json', '--dir', '/w', '--session', 'ses_0123456789abcdef'])
})

test('a conversation that is gone on with is moved to the workspace first, inside the walls', () => {
  const { file, args } = opencodeCommand(spec({ program: '/opt/opencode', resume: 'ses_0123456789abcdef' }))
  expect(file).toBe('/bin/sh')
  expect(args).toContain('/h/.local/share/opencode/opencode.db')
  expect(args.slice(-4)).toEqual(['/opt/opencode', 'acp', '--cwd', '/w'])
})

test('its model is asked for where it is told, with a key that stands in no setting', () => {
  const given = config({ baseUrl: '{{PAWL_DOOR_URL}}/model/v1', access: { kind: 'variable', name: 'MY_KEY' } })
  expect(given).toMatchObject({ model: 'pawl/some-model', small_model: 'pawl/some-model', enabled_providers: ['pawl'] })
  expect(given.provider.pawl).toMatchObject({
    npm: '@ai-sdk/openai-compatible',
    options: { baseURL: '{{PAWL_DOOR_URL}}/model/v1', apiKey: '{env:MY_KEY}' },
  })
  expect(config({ access: { kind: 'none' } }).provider.pawl.options).toEqual({ baseURL: 'https://api.openai.com/v1' })
})

test('the format of Anthropic is spoken where the options say so', () => {
  const options = OpencodeOptions.parse({ wire: 'anthropic' })
  expect(config({ options }).provider.pawl).toMatchObject({
    npm: '@ai-sdk/anthropic',
    options: { baseURL: 'https://api.anthropic.com/v1', apiKey: '{env:ANTHROPIC_API_KEY}' },
  })
  expect(config({ options, baseUrl: 'http://127.0.0.1:1/model/v1' }).provider.pawl.options.baseURL).toBe(
    'http://127.0.0.1:1/model/v1',
  )
})

test('nothing of the workspace is obeyed, nothing is fetched, and settings that were left in the home are gone', () => {
  const { env, files } = opencodeCommand(spec())
  expect(env).toMatchObject({ OPENCODE_DISABLE_PROJECT_CONFIG: '1', OPENCODE_DISABLE_CLAUDE_CODE: '1', OPENCODE_PURE: '1' })
  expect(files).toMatchObject({ '.config/opencode/opencode.json': '{}', '.config/opencode/opencode.jsonc': '{}' })
  expect(files?.['.config/opencode/package-lock.json']).toContain('@opencode-ai/plugin')
})

test('what the agent is told lies in a file, because the program would put variables and files into a setting', () => {
  const { env, files } = opencodeCommand(spec({ systemPrompt: 'Never say {env:HOME}.' }))
  expect(files?.['.pawl-instructions.md']).toBe('Never say {env:HOME}.')
  expect(JSON.parse(env.OPENCODE_CONFIG_CONTENT ?? '').instructions).toEqual(['/h/.pawl-instructions.md'])
  const instructions = [{ path: 'AGENTS.md', text: 'Use {file:/etc/passwd}.', isCut: false }]
  expect(String(opencodeCommand(spec({ instructions })).files?.['.pawl-instructions.md'])).toContain('Use {file:/etc/passwd}.')
  expect(config().instructions).toBeUndefined()
})

test('our tools are offered at the door, and may take as long as they need', () => {
  expect(config({ tools: true }).mcp.pawl).toMatchObject({ url: '{{PAWL_DOOR_URL}}/mcp', timeout: 660_000 })
  expect(config().mcp).toBeUndefined()
})

test('inside walls it is free where nobody has decided, elsewhere it asks', () => {
  expect(config({ walled: true }).permission).toMatchObject({ bash: 'allow', edit: 'allow', external_directory: 'allow' })
  expect(config({ walled: false }).permission).toMatchObject({ bash: 'ask', edit: 'ask', external_directory: 'ask' })
})

test('the rules of a profile decide what is asked and what is not there', () => {
  const given = accessOf({ rules: { ask: ['Bash(git push:*)'], deny: ['WebFetch'] } })
  const { permission, agent } = config({ walled: true, toolAccess: given })
  expect(permission).toMatchObject({ bash: 'ask', webfetch: 'deny', edit: 'allow', 'pawl_*': 'allow' })
  // Said of its one agent as well, or a file in the home could say otherwise.
  expect(agent.build.permission).toEqual(permission)
})

test('a profile without native tools leaves ours alone', () => {
  const { permission } = config({ walled: true, native: false, tools: true })
  expect(new Set(ownTools.map((tool) => permission[tool] ?? permission.edit))).toEqual(new Set(['deny']))
  expect(permission).toMatchObject({ '*': 'deny', 'pawl_*': 'allow' })
})

test('a disabled tool is not offered, and neither is what does the same', () => {
  expect(config({ walled: true, disabledTools: ['Write'] }).permission.edit).toBe('deny')
  expect(config({ walled: true, disallowedTools: ['webfetch'] }).permission.webfetch).toBe('deny')
})

test.each([
  [{ model: undefined }, /which model/],
  [{ newSession: 'ses_0123456789abcdef' }, /names its conversations itself/],
  [{ resume: '../../etc' }, /is not a conversation/],
  [{ extraArgs: ['--auto'] }, /--auto cannot be given/],
  [{ extraArgs: ['--dir=/etc'] }, /--dir cannot be given/],
  [{ extraArgs: ['--dangerouslySkipPermissions'] }, /--dangerouslySkipPermissions cannot be given/],
  [{ extraArgs: ['-sses_0123456789'] }, /cannot be given/],
  [{ access: { kind: 'login' } }, /by a key only/],
  [{ allowedTools: ['bash'] }, /Leave allowedTools out/],
  [{ disallowedTools: ['bash(rm:*)'] }, /a whole tool only/],
  [{ extraArgs: ['a\0b'] }, /NUL/],
] as const)('%j is refused with a reason', (more, reason) => {
  expect(() => opencodeCommand(spec(more as Partial<LaunchSpec<OpencodeOptions>>))).toThrow(reason)
})

test('a rule that must be asked about cannot be held by run, which can ask nobody', () => {
  const options = OpencodeOptions.parse({ transport: 'run' })
  const given = accessOf({ rules: { ask: ['Bash'] } })
  expect(() => opencodeCommand(spec({ options, toolAccess: given }))).toThrow(/cannot be held to "ask Bash"/)
})
