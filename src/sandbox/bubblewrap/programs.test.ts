import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { hostPath } from '../../domain/base/path.ts'
import { interpretersOf, programRoots } from './programs.ts'

const user = { uid: 54_321, gid: 54_321 }
let base: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'pawl-programs-')))
  chmodSync(base, 0o755)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const file = (path: string, content = '') => {
  mkdirSync(dirname(join(base, path)), { recursive: true })
  writeFileSync(join(base, path), content)
  return join(base, path)
}
const roots = (path: string, reserved: readonly string[] = []) =>
  programRoots(hostPath(path), { user, reserved: reserved.map(hostPath), temporary: [tmpdir()] })

test('a program has its folder around it, a package all packages, a Python environment all of itself', () => {
  expect(roots(file('tools/agent'))).toEqual([join(base, 'tools')])
  expect(roots(file('lib/node_modules/@some/agent/bin/agent'))).toEqual([join(base, 'lib/node_modules')])
  file('venv/pyvenv.cfg')
  expect(roots(file('venv/bin/agent'))).toEqual([join(base, 'venv')])
})

test("a folder that is not the program's own is not opened for it", () => {
  const agent = file('work/agent')
  expect(roots(agent, [join(base, 'work/project')])).toEqual([agent])
  expect(roots(agent, [join(base, 'work')])).toEqual([agent])
  expect(roots(agent, [join(base, 'workshop')])).toEqual([join(base, 'work')])
  for (const home of [homedir(), '/home/somebody', '/root']) {
    expect(roots(`${home}/agent`)).toEqual([`${home}/agent`])
    expect(roots(`${home}/Documents/agent`)).toEqual([`${home}/Documents/agent`])
  }
  expect(roots('/home/somebody/bin/agent')).toEqual(['/home/somebody/bin'])
  chmodSync(join(base, 'work'), 0o700)
  expect(roots(agent)).toEqual([agent])
})

test('our own Node brings its package program along', () => {
  const node = realpathSync(process.execPath)
  expect(roots(node)[0]).toBe(dirname(node))
  for (const root of roots(node).slice(1)) expect(root).toBe(join(dirname(node), '../lib/node_modules'))
})

test('a script names its interpreter, by the link and by what it leads to', () => {
  const python = file('real/python3')
  mkdirSync(join(base, 'venv/bin'), { recursive: true })
  symlinkSync(python, join(base, 'venv/bin/python'))
  expect(interpretersOf(file('agent', `#!${base}/venv/bin/python -u\nprint()`))).toEqual([join(base, 'venv/bin/python'), python])
  expect(interpretersOf(file('gone', '#!/no/such/program\n'))).toEqual([])
  expect(interpretersOf(file('plain', '\x7fELF'))).toEqual([])
})
