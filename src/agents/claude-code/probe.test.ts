import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { login } from './login.ts'
import { ClaudeCodeOptions } from './options.ts'
import { probeClaude } from './probe.ts'

const options = ClaudeCodeOptions.parse({})
const credentials = (expiresAt: unknown) =>
  JSON.stringify({ claudeAiOauth: { accessToken: 'sk-x', refreshToken: 'r', expiresAt } })

test('a link on the search path leads to the program itself, with its version and login', async () => {
  const place = await makePlace('echo "2.1.325 (Claude Code)"')
  const health = { installed: true, program: place.program, version: '2.1.325', healthy: true }
  expect(await probeClaude(options, place)).toEqual({
    ...health,
    loggedIn: false,
    detail: `found at ${place.program}; not logged in`,
    fix: 'Run "claude" once in a terminal and log in, or set ANTHROPIC_API_KEY.',
  })
  const environment = () => ({ ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'x' })
  const detail = `found at ${place.program}; its key is in CLAUDE_CODE_OAUTH_TOKEN`
  expect(await probeClaude(options, { ...place, environment })).toEqual({ ...health, loggedIn: true, detail })
  await mkdir(join(place.home, '.claude'))
  await writeFile(join(place.home, '.claude/.credentials.json'), credentials(1))
  expect(await probeClaude(options, place)).toEqual({
    ...health,
    loggedIn: true,
    detail: `found at ${place.program}; logged in, with a token to be renewed`,
  })
})

test.each([
  ['is too old', 'echo "1.0.128 (Claude Code)"', 'version 1.0.128; Pawl needs 2.0.0 or newer'],
  ['is something else', 'echo "hello"', 'printed "hello"'],
  ['fails', 'echo "no such file" >&2; exit 3', 'ended with code 3: no such file'],
])('a program that %s is unhealthy and says what to do', async (_, script, detail) => {
  const health = await probeClaude(options, await makePlace(script))
  expect(health).toMatchObject({
    installed: true,
    healthy: false,
    detail: expect.stringContaining(detail),
    fix: expect.any(String),
  })
})

test('only a login counts as one, and the one that ends later is the newer one', () => {
  const newness = login.files[0]!.newness
  expect(newness(credentials(1763200000000))).toBe(1763200000000)
  expect(newness(credentials('soon'))).toBe(0)
  for (const text of ['', '{', '[]', '{"claudeAiOauth":{}}', '{"claudeAiOauth":{"accessToken":""}}'])
    expect(newness(text)).toBeUndefined()
})

async function makePlace(script: string) {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-probe-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const [bin, home] = [join(folder, 'bin'), join(folder, 'home')]
  await mkdir(bin)
  await mkdir(home)
  const program = join(folder, 'the-program')
  await writeFile(program, `#!/bin/sh\n${script}\n`)
  await chmod(program, 0o755)
  await symlink(program, join(bin, 'claude'))
  return { path: `${bin}:/usr/bin:/bin`, home, program }
}
