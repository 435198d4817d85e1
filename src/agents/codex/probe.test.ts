import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { arch, platform } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { makePlace } from '../../../test/contracts/adapter.ts'
import { CodexOptions } from './options.ts'
import { probeCodex } from './probe.ts'

const options = CodexOptions.parse({})
const targets = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
}
const target = targets[`${platform()}-${arch()}` as keyof typeof targets]

test.each([
  ['beside it, as npm does', `@openai/codex-${platform()}-${arch()}/vendor/${target}/bin/codex`],
  ['below it', `@openai/codex/node_modules/@openai/codex-${platform()}-${arch()}/vendor/${target}/bin/codex`],
  ['inside it, as older ones were', `@openai/codex/vendor/${target}/codex/codex`],
])('the program behind the launcher is found %s', async (_, where) => {
  const { home } = await makePlace()
  const program = await put(join(home, 'node_modules', where), 'codex-cli 0.166.0')
  const launcher = await put(join(home, 'node_modules/@openai/codex/bin/codex.js'), 'codex-cli 0.0.1')
  await mkdir(join(home, 'bin'))
  await symlink(launcher, join(home, 'bin/codex'))
  expect(await probeCodex(options, { path: join(home, 'bin') })).toEqual({
    installed: true,
    healthy: true,
    program,
    version: '0.166.0',
    loggedIn: undefined,
    detail: `found at ${program}, spoken to by app-server`,
  })
})

test('a launcher without its program is started itself', async () => {
  const { home } = await makePlace()
  const launcher = await put(join(home, 'codex/bin/codex.js'), 'codex-cli 0.166.0')
  const health = await probeCodex(CodexOptions.parse({ command: launcher }), { path: '' })
  expect(health).toMatchObject({ healthy: true, program: launcher })
})

test.each([
  ['codex-cli 0.62.9', {}, '0.63.0'],
  ['codex-cli 0.79.0', { transport: 'app-server' }, '0.80.0'],
])('%s is too old, and the fix is named', async (version, given, oldest) => {
  const { home } = await makePlace()
  await put(join(home, 'codex'), version)
  expect(await probeCodex(CodexOptions.parse(given), { path: home })).toMatchObject({
    installed: true,
    healthy: false,
    detail: expect.stringContaining(oldest),
    fix: 'npm install -g @openai/codex@latest',
  })
})

test('it is logged in by a variable or by its own file', async () => {
  const { home } = await makePlace()
  await put(join(home, 'codex'), 'codex-cli 0.166.0')
  const loggedIn = async (more: object) => (await probeCodex(options, { path: home, ...more })).loggedIn
  const none = () => ({})
  expect(await loggedIn({ home, environment: none })).toBe(false)
  expect(await loggedIn({ home, environment: () => ({ CODEX_API_KEY: 'x' }) })).toBe(true)
  await mkdir(join(home, '.codex'))
  await writeFile(join(home, '.codex/auth.json'), '{"OPENAI_API_KEY":"sk"}')
  expect(await loggedIn({ home, environment: none })).toBe(true)
})

test('a program that fails when asked for its version is unhealthy, in words that help', async () => {
  const { home } = await makePlace()
  await put(join(home, 'codex'), '"; exit 3; "')
  expect(await probeCodex(options, { path: home })).toMatchObject({
    installed: true,
    healthy: false,
    detail: expect.stringContaining('code 3'),
  })
})

async function put(file: string, version: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `#!/bin/sh\necho "${version}"\n`, { mode: 0o755 })
  return file
}
