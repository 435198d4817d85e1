import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { claudeCode } from '../claude-code/agent.ts'
import { codex } from '../codex/agent.ts'
import { custom } from '../custom/agent.ts'
import type { AgentHealth, ProbePlace } from '../port.ts'
import { readVersion } from './version.ts'

type Prober = (command: string, place: ProbePlace) => Promise<AgentHealth>
const probers: [string, string, Prober][] = [
  ['claude-code', '2.1.325 (Claude Code)', (command, place) => claudeCode.probe(claudeCode.options.parse({ command }), place)],
  ['codex', 'codex-cli 0.166.0', (command, place) => codex.probe(codex.options.parse({ command }), place)],
  [
    'custom',
    '1.0.0',
    (command, place) => custom.probe(custom.options.parse({ command: [command], versionArgs: ['--version'] }), place),
  ],
]
const unasked = expect.stringContaining('its version is not asked, because agents may write it')

test.each(probers)('the probe of %s never executes a program that agents may have written', async (_, version, probe) => {
  const { folder, workspace, put, isExecuted } = makePlace()
  const planted = put('workspace/node_modules/.bin/planted', version)
  const elsewhere = put('home/planted', version)
  symlinkSync(planted, join(folder, 'link'))
  symlinkSync('/bin/true', join(workspace, 'link'))
  const path = '/usr/bin:/bin'
  const place = { path, folder: workspace, untrusted: [join(folder, 'home')] }
  const wanted = { installed: true, healthy: true, detail: unasked }
  expect(await probe('./node_modules/.bin/planted', place)).toMatchObject(wanted)
  expect(await probe(planted, place)).toMatchObject(wanted)
  expect(await probe('planted', { ...place, path: `${dirname(planted)}:${path}` })).toMatchObject(wanted)
  expect(await probe(join(folder, 'link'), place)).toMatchObject(wanted)
  expect(await probe(join(workspace, 'link'), place)).toMatchObject(wanted)
  expect(await probe(elsewhere, place)).toMatchObject(wanted)
  expect(await probe('./node_modules/.bin/planted', { path })).toMatchObject({ installed: true, healthy: true })
  expect(isExecuted()).toBe(false)
  // The same program where only its owner writes it.
  const { version: found, healthy } = await probe(put('bin/program', version), place)
  expect(version).toContain(found)
  expect({ healthy, isExecuted: isExecuted() }).toEqual({ healthy: true, isExecuted: true })
})

test("codex's program behind a launcher in the workspace is not executed either", async () => {
  const { workspace, put, isExecuted } = makePlace()
  const modules = 'workspace/node_modules/@openai'
  const launcher = put(`${modules}/codex/bin/codex.js`, 'codex-cli 0.166.0')
  for (const target of ['x86_64-unknown-linux-musl', 'aarch64-unknown-linux-musl', 'x86_64-apple-darwin', 'aarch64-apple-darwin'])
    put(`${modules}/codex/vendor/${target}/bin/codex`, 'codex-cli 0.166.0')
  const place = { path: '/usr/bin:/bin', folder: workspace }
  const health = await codex.probe(codex.options.parse({ command: launcher }), place)
  expect(health).toMatchObject({ healthy: true, detail: unasked, program: expect.stringContaining('/vendor/') })
  expect(isExecuted()).toBe(false)
})

test('a trusted script finds neither its interpreter nor anything else in the workspace', async () => {
  const { folder, workspace, put, isExecuted } = makePlace()
  put('workspace/node_modules/.bin/sh', 'planted')
  const program = join(folder, 'program')
  writeFileSync(program, '#!/usr/bin/env sh\necho "in $(pwd)"\n', { mode: 0o755 })
  const place = { path: `${workspace}/node_modules/.bin:/usr/bin:/bin`, folder: workspace }
  expect(await readVersion(program, [], place)).toEqual({ version: 'in /' })
  expect(isExecuted()).toBe(false)
})

test.each([['./agent.sh'], ['agent.sh'], ['--file=agent.sh']])(
  'an interpreter is not given the script %s of the workspace',
  async (argument) => {
    const { workspace, put, isExecuted } = makePlace()
    put('workspace/agent.sh', '1.0.0')
    const answer = await readVersion('/bin/sh', [argument, '--version'], { path: '/usr/bin:/bin', folder: workspace })
    expect(answer).toEqual({ unasked })
    expect(isExecuted()).toBe(false)
  },
)

test('a program that npm put on the search path of our own project is not executed, whatever the workspace is', async () => {
  const { workspace } = makePlace()
  const path = `${join(process.cwd(), 'node_modules/.bin')}:/usr/bin:/bin`
  const options = custom.options.parse({ command: ['vitest'], versionArgs: ['--version'] })
  for (const folder of [workspace, undefined])
    expect(await custom.probe(options, { path, folder })).toEqual({ installed: true, healthy: true, detail: unasked })
})

/** Every program here leaves a mark when it is executed. */
function makePlace() {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-version-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const mark = join(folder, 'executed')
  const put = (name: string, version: string) => {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `#!/bin/sh\ntouch ${mark}\necho "${version}"\n`, { mode: 0o755 })
    return file
  }
  mkdirSync(join(folder, 'workspace'))
  return { folder, workspace: join(folder, 'workspace'), put, isExecuted: () => existsSync(mark) }
}
