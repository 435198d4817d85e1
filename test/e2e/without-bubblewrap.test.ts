import { spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundle } from '../bundle.ts'
import { makeHome } from '../engine/ready-database.ts'
import { compileCache } from './pawl.ts'

const { pawl: bin } = await bundle()

/** Only root can make a view of the machine in which a program is missing. */
describe.runIf(process.platform === 'linux' && process.getuid?.() === 0)('on a machine without bubblewrap and network', () => {
  let home: string
  let remove: () => Promise<void>
  beforeAll(async () => {
    ;({ path: home, remove } = await makeHome('pawl-without-'))
    await mkdir(join(home, 'work'))
    const settings = [
      'agents:',
      '  helper: { adapter: custom, command: [cat] }',
      '  open: { adapter: custom, command: [cat], profile: unattended-open }',
      '',
    ]
    await writeFile(join(home, 'config.yaml'), settings.join('\n'), { mode: 0o600 })
  })
  afterAll(() => remove())

  /** Nothing of it stays on the machine: the view ends with the command. */
  const pawl = (args: readonly string[]) =>
    new Promise<{ code: number | null; out: string; err: string }>((done) => {
      const inView = 'mount --bind /dev/null "$(command -v bwrap)" && exec "$@"'
      const child = spawn('unshare', ['-m', '-n', 'sh', '-c', inView, 'sh', process.execPath, bin, ...args], {
        cwd: join(home, 'work'),
        env: { PATH: process.env.PATH, HOME: home, PAWL_HOME: home, NODE_COMPILE_CACHE: compileCache, NO_COLOR: '1' },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let [out, err] = ['', '']
      child.stdout.setEncoding('utf8').on('data', (text) => (out += text))
      child.stderr.setEncoding('utf8').on('data', (text) => (err += text))
      child.once('close', (code) => done({ code, out, err }))
    })

  it('no agent works unattended, and the refusal names the cure', async () => {
    const { code, out, err } = await pawl(['run', '--agent', 'helper', 'hello'])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain('failed (sandbox_error)')
    expect(err).toMatch(/may not run unattended without walls, and none can be built here: .*bwrap.* Cure: .*pawl doctor --fix/)
  })

  it('whoever names the profile without walls is served, and told in every place that nothing is enforced', async () => {
    const ran = await pawl(['run', '--agent', 'open', 'hello'])
    expect([ran.code, ran.out]).toEqual([0, 'hello\n'])
    expect(ran.err).toMatch(/^NO WALLS: under the profile unattended-open/)
    expect(ran.err).toContain('walls: none, NOT ENFORCED')
    expect((await pawl(['task', 'show', 'last'])).out).toContain('walls: none, NOT ENFORCED')
    const shown = JSON.parse((await pawl(['task', 'show', 'last', '--json'])).out)
    expect(shown.runs).toMatchObject([{ profile: 'unattended-open', walls: 'none', enforced: false }])
  })

  it('the demo works, for it is our own program, and doctor says that walls are not enforced', async () => {
    const demo = await pawl(['run', '--agent', 'demo', 'look around'])
    expect(demo.err).toContain('walls: none, NOT ENFORCED')
    expect(demo.code).toBe(0)
    expect((await pawl(['doctor'])).out).toMatch(/WARN +walls +not enforced: /)
  })
})
