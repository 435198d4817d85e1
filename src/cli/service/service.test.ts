import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { launchdFile, systemdUnit } from './unit.ts'

const folder = mkdtempSync(join(tmpdir(), 'pawl-service-'))
afterAll(() => rmSync(folder, { recursive: true }))
const bin = join(import.meta.dirname, '..', '..', '..', 'bin', 'pawl')

function pawl(...args: string[]) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [bin, ...args], {
    cwd: folder,
    encoding: 'utf8',
    // Nothing of a real user's is reached: no bus of theirs, and no folder of theirs.
    env: { PATH: '/usr/bin:/bin', HOME: folder, PAWL_HOME: join(folder, 'home'), OPENAI_API_KEY: 'sk-never-written' },
  })
  return { out: stdout, err: stderr, code: status }
}

test.runIf(process.platform === 'linux')('a unit is shown, written, judged and removed, and the next step is said', () => {
  const file = join(folder, '.config', 'systemd', 'user', 'pawl.service')
  const shown = pawl('service', 'install', '--print')
  expect(shown.code).toBe(0)
  expect(existsSync(file)).toBe(false)
  const installed = pawl('service', 'install')
  expect([installed.out, installed.code]).toEqual([`Wrote ${file}\n`, 0])
  expect(installed.err).toContain('loginctl enable-linger')
  expect(installed.err).toContain('systemctl --user enable --now pawl.service')
  const unit = readFileSync(file, 'utf8')
  expect(unit).toBe(shown.out)
  expect(unit).toContain(`ExecStart="${process.execPath}" "${bin}" "serve" "--home" "${join(folder, 'home')}"`)
  expect(unit).not.toContain('sk-never-written')
  expect(JSON.parse(pawl('service', 'status', '--json').out)).toEqual({ installed: true, current: true, running: false, file })
  writeFileSync(file, unit.replace('RestartSec=5', 'RestartSec=6'))
  expect(pawl('service', 'status')).toMatchObject({
    code: 1,
    out: expect.stringContaining('no: it starts another program or home'),
  })
  expect(pawl('service', 'uninstall').out).toBe(`Removed ${file}\n`)
  expect(existsSync(file)).toBe(false)
  expect(pawl('service', 'status').out).toContain('installed  no')
})

const odd = {
  command: [process.execPath, '/a b/pawl', 'serve', '--home', '/home/100% "x" $HOME'],
  home: '/home/100% "x" $HOME',
  path: '/usr/bin:/opt/a b/bin',
  logFile: '/tmp/log & more',
}

test.runIf(existsSync('/usr/bin/systemd-analyze'))('systemd finds nothing wrong with the unit, whatever paths are like', () => {
  const file = join(folder, 'pawl.service')
  const program = { ...odd, command: [process.execPath, '/a b/pawl', 'serve', '--home', odd.home] }
  writeFileSync(file, systemdUnit(program))
  mkdirSync(join(folder, 'run'), { mode: 0o700 })
  const { stderr, status } = spawnSync('systemd-analyze', ['verify', '--user', file], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', HOME: folder, XDG_RUNTIME_DIR: join(folder, 'run') },
  })
  expect([stderr.split('\n').filter((line) => line.includes('pawl.service')), status]).toEqual([[], 0])
})

test('signs that mean something to systemd or XML are only text', () => {
  expect(systemdUnit(odd)).toContain('"--home" "/home/100%% \\"x\\" $$HOME"')
  expect(systemdUnit(odd)).toContain('Environment="PAWL_HOME=/home/100%% \\"x\\" $HOME"\n')
  expect(launchdFile(odd)).toContain('<string>/home/100% &quot;x&quot; $HOME</string>')
  expect(launchdFile(odd)).toContain('<string>/tmp/log &amp; more</string>')
})
