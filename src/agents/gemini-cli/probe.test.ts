import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { login } from './login.ts'
import { GeminiCliOptions } from './options.ts'
import { probeGemini } from './probe.ts'

function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-gemini-probe-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
function makeProgram(prints: string) {
  const file = join(makeFolder(), 'gemini')
  writeFileSync(file, `#!/bin/sh\necho "${prints}"\n`)
  chmodSync(file, 0o755)
  return GeminiCliOptions.parse({ command: file })
}
const path = '/usr/bin:/bin'

test('a program that is there is found with its version', async () => {
  expect(await probeGemini(makeProgram('0.61.0'), { path })).toMatchObject({ installed: true, healthy: true, version: '0.61.0' })
  expect(await probeGemini(makeProgram('oops'), { path })).toMatchObject({
    healthy: false,
    fix: expect.stringContaining('npm install'),
  })
  const missing = await probeGemini(GeminiCliOptions.parse({ command: 'no-such-gemini' }), { path })
  expect(missing).toMatchObject({ installed: false, healthy: false, fix: 'npm install -g @google/gemini-cli' })
})

test('the version of an installed package is read, and the program not started for it', async () => {
  const folder = makeFolder()
  mkdirSync(join(folder, 'bundle'))
  const command = join(folder, 'bundle/gemini.js')
  writeFileSync(command, '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: '@google/gemini-cli', version: '0.62.1' }))
  const options = GeminiCliOptions.parse({ command })
  expect(await probeGemini(options, { path })).toMatchObject({ healthy: true, version: '0.62.1' })
  writeFileSync(join(folder, 'package.json'), '{"name":"something-else","version":"9.9.9"}')
  expect(await probeGemini(options, { path })).toMatchObject({ healthy: false, detail: expect.stringContaining('code 1') })
})

test('it is logged in by its variable or by the file of its own login', async () => {
  const options = makeProgram('0.61.0')
  const home = makeFolder()
  expect(await probeGemini(options, { path, home })).toMatchObject({
    loggedIn: false,
    fix: expect.stringContaining('GEMINI_API_KEY'),
  })
  const environment = () => ({ GEMINI_API_KEY: 'k' })
  expect(await probeGemini(options, { path, home, environment })).toMatchObject({ loggedIn: true })
  mkdirSync(join(home, '.gemini'))
  writeFileSync(join(home, '.gemini/oauth_creds.json'), JSON.stringify({ access_token: 'a', expiry_date: 5 }))
  expect(await probeGemini(options, { path, home })).toMatchObject({
    loggedIn: true,
    detail: expect.stringContaining('logged in'),
  })
})

test('of two logins the one that ends later is the newer one, and the account is known by its token', () => {
  const [file] = login.files
  const token = `x.${Buffer.from(JSON.stringify({ sub: '117' })).toString('base64url')}.y`
  const text = JSON.stringify({ access_token: 'a', expiry_date: 1763200000000, id_token: token })
  expect([file?.newness(text), file?.expiresAt?.(text), file?.account?.(text)]).toEqual([1763200000000, 1763200000000, '117'])
  expect(file?.newness('{"access_token":""}')).toBeUndefined()
  expect(file?.newness('no json')).toBeUndefined()
})
