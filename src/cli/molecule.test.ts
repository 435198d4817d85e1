import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'pawl-molecule-'))
const file = join(folder, 'config.yaml')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function pawl(...args: string[]) {
  const { PATH, HOME } = process.env
  const bin = join(import.meta.dirname, '..', '..', 'bin', 'pawl')
  const { stdout, stderr, status } = spawnSync(process.execPath, [bin, ...args, '--home', join(folder, 'home')], {
    cwd: folder,
    env: { PATH, HOME, NO_COLOR: '1' },
    encoding: 'utf8',
  })
  return { out: stdout, err: stderr, code: status }
}

test('the file of a workspace is checked, shown and names the agent that works', () => {
  writeFileSync(
    file,
    'name: my helper\ntier: 1\nruntime: custom\nruntime_config: {command: /bin/echo, args: [said], timeout: 60}\n',
  )
  expect(pawl('config', 'check', file)).toEqual({
    out: `No mistakes in ${file}.\nagent my-helper: custom\n`,
    err: `${file} is a workspace of Molecule; of it Pawl leaves alone: tier.\n`,
    code: 0,
  })
  const shown = pawl('config', 'show', '--config', file, '--trust').out
  expect(shown).toMatch(/^agents\.my-helper\.options\.command +config\.yaml:4 +\/bin\/echo$/m)
  expect(shown).toMatch(/^defaultAgent +config\.yaml:1 +my-helper$/m)
  writeFileSync(file, 'runtime: custom\nruntime_config: {comand: /bin/echo}\n')
  const { err, code } = pawl('config', 'check', file)
  expect([err, code]).toEqual(['pawl: Unknown key "comand" at runtime_config in config.yaml:2:18; did you mean "command"?\n', 2])
})
