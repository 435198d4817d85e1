import { expect, test } from 'vitest'
import { toolAccess } from '../../domain/profile/access.ts'
import { resolveProfile, type UserProfiles } from '../../domain/profile/resolve.ts'
import type { LaunchSpec } from '../port.ts'
import { codexCommand } from './command.ts'
import { CodexOptions } from './options.ts'
import { ownTools } from './rules.ts'
import { approvals } from './settings.ts'

type ProfileSettings = UserProfiles[string]

const spec = (settings: ProfileSettings, more: Partial<LaunchSpec<CodexOptions>> = {}): LaunchSpec<CodexOptions> => ({
  options: CodexOptions.parse({}),
  prompt: '',
  workspace: '/w',
  home: '/h',
  extraArgs: [],
  walled: true,
  toolAccess: toolAccess(resolveProfile('mine', { mine: settings }), ownTools),
  ...more,
})
const config = (settings: ProfileSettings) => String(codexCommand(spec(settings)).files?.['.codex/config.toml'])

test.each([
  [{}, 'never'],
  [{ rules: { deny: ['WebFetch', 'mcp__x__*'] } }, 'never'],
  [{ tools: { disabled: ['Bash'] } }, 'never'],
  [{ rules: { deny: ['Bash(git push:*)'] } }, 'untrusted'],
  [{ rules: { ask: ['Write'] } }, 'untrusted'],
  [{ rules: { deny: ['Read(**/.env)'] } }, 'untrusted'],
  [{ rules: { allow: ['Bash(ls:*)'], otherwise: 'ask' } }, 'untrusted'],
] as const)('inside walls %j has the policy %s', (settings, policy) => {
  expect(approvals(spec(settings as ProfileSettings))).toBe(policy)
})

test('nothing can be typed past the rules, and what the program does not ask about is taken away by a rule about it', () => {
  expect(config({})).not.toMatch(/unified_exec_tty|view_image|image_generation|sleep_tool|multi_agent|shell_tool|web_search/)
  const read = config({ rules: { deny: ['Read(**/.env)'] } })
  expect(read).toContain('unified_exec_tty = false')
  expect(read).toContain('view_image = false')
  expect(read).not.toMatch(/shell_tool|multi_agent = /)
  expect(config({ rules: { ask: ['Task(reviewer)', 'WebSearch'], deny: ['Bash'] } })).toMatch(
    /web_search = "disabled"[\s\S]*multi_agent = false[\s\S]*shell_tool = false/,
  )
})

test.each([
  [{ options: CodexOptions.parse({ transport: 'exec' }) }, 'exec'],
  [{ version: '0.165.2' }, 'update it to 0.166.0'],
  [{ options: CodexOptions.parse({ approvals: 'never' }) }, 'approvals: never'],
  [{ options: CodexOptions.parse({ approvals: 'on-request' }) }, 'approvals: on-request'],
])('a rule that cannot be held is named and refused: %j', (more, why) => {
  const rules = { deny: ['Bash(git push:*)'] }
  const sentence = new RegExp(`"deny Bash\\(git push:\\*\\)" of the profile: .*${why}`)
  expect(() => codexCommand(spec({ rules }, more))).toThrow(sentence)
  expect(() => codexCommand(spec({}, more))).not.toThrow()
})

test('a rule about planning is refused, and asking more than needed is not', () => {
  expect(() => codexCommand(spec({ rules: { deny: ['Plan'] } }))).toThrow('"deny Plan"')
  const options = CodexOptions.parse({ approvals: 'untrusted' })
  expect(() => codexCommand(spec({ rules: { deny: ['Bash(rm:*)'] } }, { options, version: '0.166.0' }))).not.toThrow()
})

test.each([
  [['-c', 'features.view_image=true']],
  [['--enable', 'view_image']],
  [['-cweb_search="live"']],
  [['-c', 'mcp_servers.x.default_tools_approval_mode="approve"']],
  [['-c', 'mcp_servers.x={command="x",default_tools_approval_mode="approve"}']],
])('the arguments %j would bring back what a rule takes away', (extraArgs) => {
  expect(() => codexCommand(spec({ rules: { deny: ['Read(**/.env)'] } }, { extraArgs }))).toThrow('cannot be given to Codex')
  expect(() => codexCommand(spec({}, { extraArgs }))).not.toThrow()
})
