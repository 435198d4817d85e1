import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hostPath, inPlace } from '../../src/domain/base/path.ts'
import type { Command, Sandbox, Walls } from '../../src/sandbox/port.ts'
import type { Exit } from '../../src/sandbox/process/child.ts'
import { endKillUnit, processesOf } from '../../src/sandbox/process/tree.ts'

const isRoot = process.getuid?.() === 0
const supervisor = fileURLToPath(new URL('sandbox-supervisor.ts', import.meta.url))

/**
 * What every sandbox owes. `enforced` says whether its walls hold; what only walls can do is then expected not to hold without them. `ahead`: the same with what it got
 * ready before each launch.
 */
export function sandboxContract(
  name: string,
  sandbox: Sandbox,
  options: { readonly enforced: boolean; readonly ahead?: boolean },
): void {
  const { enforced, ahead } = options
  const user = enforced && isRoot ? { uid: 65534, gid: 65534 } : undefined

  describe(`sandbox ${name}${ahead ? ', got ready ahead' : ''}`, () => {
    afterAll(() => sandbox.ahead?.stop())
    let base: string
    let walls: Walls
    let token: string
    let runs = 0

    beforeEach(() => {
      // Root's own directories are closed to others; agents must work below them all the same.
      base = mkdtempSync(join(tmpdir(), 'pawl-walls-'))
      chmodSync(base, 0o700)
      const place = (path: string) => {
        mkdirSync(join(base, path), { recursive: true })
        if (user) chownSync(join(base, path), user.uid, user.gid)
        return join(base, path)
      }
      token = `pawl-test-${process.pid}-${++runs}`
      const workspace = place('project')
      const home = place('store/homes/one')
      writeFileSync(join(base, 'store/secret.txt'), 'the secret')
      walls = {
        unit: sandbox.killUnit(token, 7),
        workspace: inPlace(workspace),
        home: hostPath(home),
        hidden: [hostPath(join(base, 'store')), hostPath(join(base, 'missing'))],
        user,
        network: 'none',
        door: false,
        limits: { processes: 256, openFiles: 512 },
      }
    })
    afterEach(async () => {
      await endKillUnit(walls.unit)
      rmSync(base, { recursive: true, force: true })
    })

    const shell = (script: string, ...args: string[]): Command => ({ file: 'sh', args: ['-c', script, token, ...args], env: {} })
    const node = (program: string, ...args: string[]): Command => ({
      file: process.execPath,
      args: ['--eval', program, '--', ...args],
      env: {},
    })
    async function run(command: Command, changes: Partial<Walls> = {}): Promise<{ out: string; err: string; exit: Exit }> {
      const { child } = await launch(command, changes)
      child.stdin.end()
      const [out, err, exit] = await Promise.all([text(child.stdout), text(child.stderr), child.exited])
      await child.stop({ graceMs: 0 })
      return { out, err, exit }
    }
    const launch = async (command: Command, changes: Partial<Walls> = {}) => {
      if (ahead) await sandbox.ahead?.start()
      return sandbox.launch(command, { ...walls, ...changes })
    }

    test('the walls can be built here, and say whether they hold', async () => {
      expect(await sandbox.probe()).toMatchObject({ available: true, enforced })
      expect(walls.unit.enforced).toBe(enforced)
    })

    test('a command runs in its workspace and gives back output and exit code', async () => {
      writeFileSync(join(walls.workspace.path, 'file.txt'), 'hello')
      const result = await run(shell('pwd; cat file.txt; echo trouble >&2; exit 3'))
      expect(result).toEqual({ out: `${walls.workspace.path}\nhello`, err: 'trouble\n', exit: { code: 3, signal: null } })
    })

    test.skipIf(process.platform !== 'linux').each([false, true])(
      'an agent and what it starts have a lower priority than we (door: %s)',
      async (door) => {
        // The nice value of each, and where there are such groups that of their session.
        const show =
          'sleep 0.2; cut -d" " -f19 /proc/$$/stat; cut -d" " -f19 /proc/self/stat; cat /proc/self/autogroup 2>/dev/null'
        const { out } = await run(shell(show), { door })
        const [own, started, session] = out.split('\n')
        for (const nice of [own, started]) expect(Number(nice)).toBeGreaterThan(getPriority())
        if (isRoot && session) expect(session).toMatch(/ nice 5$/)
      },
    )

    test('arguments arrive as they are, whatever characters they hold', async () => {
      const odd = ['', ' ', '--', '-x', '$(id)', '`id`', '"\'\\', 'a\nb', 'é€😀', '*', '=x']
      const { out } = await run({
        file: process.execPath,
        args: ['-p', 'JSON.stringify(process.argv.slice(1))', '--', ...odd],
        env: {},
      })
      expect(JSON.parse(out)).toEqual(odd)
    })

    test.each([false, true])('the environment is ours alone, also that of the first process inside (door: %s)', async (door) => {
      process.env.PAWL_TEST_CANARY = 'leaked-canary'
      try {
        const env = { GIVEN: 'yes', EMPTY: '', LINES: 'a\nb', NODE_OPTIONS: '--no-deprecation', NODE_ENV: 'test' }
        const shown =
          'for p in self 1; do echo "== $p"; tr "\\0" "\\n" < /proc/$p/environ; done 2>/dev/null; echo; env | grep ^PAWL_'
        const { out, exit } = await run({ ...shell(shown), env }, { door })
        expect(exit.code).toBe(0)
        expect(out).toContain('GIVEN=yes')
        if (enforced || !isRoot) expect(out).not.toContain('leaked-canary')
        const names = new Set(
          (await run({ file: 'env', args: ['-0'], env }, { door })).out.split('\0').map((entry) => entry.split('=')[0]),
        )
        for (const name of ['', 'PWD', 'OLDPWD', 'SHLVL', '_']) names.delete(name)
        const ours = ['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR', 'PAWL_KILL_UNIT', ...(door ? ['PAWL_DOOR_URL'] : [])]
        expect([...names].sort()).toEqual([...ours, ...Object.keys(env)].sort())
      } finally {
        delete process.env.PAWL_TEST_CANARY
      }
    })

    test('a command cannot name itself another home or leave its kill unit', async () => {
      const { out } = await run({ ...shell('echo $HOME; echo $PAWL_KILL_UNIT'), env: { HOME: '/', PAWL_KILL_UNIT: 'other' } })
      expect(out).toBe(`${walls.home}\n${walls.unit.marker}\n`)
    })

    test('a process that forked twice, left its session and ignores signals is gone within 2 s of the stop', async () => {
      const stubborn = `trap "" TERM HUP INT; echo up; while :; do sleep 0.1; done; : ${token}`
      const { child } = await launch(shell(`trap "" TERM; (setsid sh -c '${stubborn}' ${token} &); while :; do sleep 0.1; done`))
      await said(child.stdout, 'up')
      expect(withArgument(token).length).toBeGreaterThanOrEqual(2)
      const began = performance.now()
      const exit = await child.stop({ graceMs: 100 })
      expect(performance.now() - began).toBeLessThan(2000)
      expect(exit).toEqual({ code: null, signal: 'SIGKILL' })
      expect(withArgument(token)).toEqual([])
      expect(await processesOf(walls.unit)).toEqual([])
    })

    test('the exit is seen at once although a grandchild holds the output open, and the output ends', async () => {
      const { child } = await launch(shell(`setsid sleep 30 & echo last words; exit 0`))
      const began = performance.now()
      const out = text(child.stdout)
      expect(await child.exited).toEqual({ code: 0, signal: null })
      expect(performance.now() - began).toBeLessThan(1500)
      expect(await out).toBe('last words\n')
      expect(performance.now() - began).toBeLessThan(3000)
      await child.stop({ graceMs: 0 })
      expect(await processesOf(walls.unit)).toEqual([])
    })

    test('what was written before the exit arrives whole, however slowly it is read', async () => {
      const { child } = await launch(shell('head -c 150000 /dev/zero; setsid sleep 30 & exit 0'))
      let bytes = 0
      for await (const chunk of child.stdout) {
        bytes += (chunk as Buffer).length
        await new Promise((done) => setTimeout(done, 300))
      }
      expect(bytes).toBe(150_000)
      await child.stop({ graceMs: 0 })
    })

    test('a stop with grace lets the agent tidy up', async () => {
      const { child } = await launch(shell('trap "echo tidy > tidied.txt; exit 5" TERM; echo up; while :; do sleep 0.05; done'))
      await said(child.stdout, 'up')
      expect(await child.stop({ graceMs: 10_000 })).toEqual({ code: 5, signal: null })
      expect(readFileSync(join(walls.workspace.path, 'tidied.txt'), 'utf8')).toBe('tidy\n')
    })

    test('stopping twice and after the end is fine, and a shorter grace given later wins', async () => {
      const { child } = await launch(shell('trap "" TERM; echo up; while :; do sleep 0.05; done'))
      await said(child.stdout, 'up')
      const began = performance.now()
      const slow = child.stop({ graceMs: 60_000 })
      const quick = child.stop({ graceMs: 20 })
      expect(await Promise.all([slow, quick])).toEqual([await quick, { code: null, signal: 'SIGKILL' }])
      expect(performance.now() - began).toBeLessThan(2000)
      expect(await child.stop({ graceMs: 0 })).toEqual({ code: null, signal: 'SIGKILL' })
    })

    test('a stop without grace is immediate', async () => {
      const { child } = await launch(shell('trap "touch asked" TERM; echo up; while :; do sleep 0.05; done'))
      await said(child.stdout, 'up')
      await child.stop({ graceMs: 0 })
      expect(existsSync(join(walls.workspace.path, 'asked'))).toBe(false)
      expect(withArgument(token)).toEqual([])
    })

    test('the death of an agent by a signal is reported', async () => {
      const { exit } = await run(shell('kill -SEGV $$'))
      expect(exit).toEqual(enforced ? { code: 139, signal: null } : { code: null, signal: 'SIGSEGV' })
    })

    test('an agent that does not read its prompt harms nobody', async () => {
      const { child } = await launch(shell('exec 0<&-; exit 0'))
      child.stdin.write('x'.repeat(1_000_000))
      child.stdin.end()
      expect(await child.exited).toEqual({ code: 0, signal: null })
      expect(await text(child.stdout)).toBe('')
      await child.stop({ graceMs: 0 })
    })

    test.each([true, false])('when the supervisor is killed nothing of the unit is alive 2 s later (door: %s)', async (door) => {
      const argument = JSON.stringify({
        name,
        command: shell(`setsid sh -c 'echo up; sleep 600' ${token} & sleep 600`),
        walls: { ...walls, door },
        ahead,
      })
      const parent = spawn(process.execPath, ['--no-warnings', supervisor, argument], { stdio: ['ignore', 'pipe', 'inherit'] })
      await said(parent.stdout, 'up')
      expect(inside(token).length).toBeGreaterThanOrEqual(2)
      parent.kill('SIGKILL')
      await once(parent, 'exit')
      if (enforced) {
        const living = async () => [...inside(token), ...(await processesOf(walls.unit))]
        await expect.poll(living, { timeout: 2000, interval: 20 }).toEqual([])
      } else {
        expect(walls.unit.enforced).toBe(false)
        expect(inside(token).length).toBeGreaterThanOrEqual(2)
        expect(await endKillUnit(walls.unit)).toBeGreaterThanOrEqual(2)
      }
      expect(inside(token)).toEqual([])
    })

    if (enforced) {
      test('a supervisor killed at any moment of a launch leaves nothing', async () => {
        const command = shell('sleep 600', token)
        for (const delayMs of [0, 2, 4, 6, 9, 12, 16, 24, 40]) {
          const argument = JSON.stringify({ name, command, walls: { ...walls, door: delayMs % 4 === 0 }, ahead })
          const parent = spawn(process.execPath, ['--no-warnings', supervisor, argument], { stdio: ['ignore', 'pipe', 'ignore'] })
          await said(parent.stdout, 'launching')
          await new Promise((done) => setTimeout(done, delayMs))
          parent.kill('SIGKILL')
          await once(parent, 'exit')
        }
        await expect.poll(() => inside(token), { timeout: 2000, interval: 20 }).toEqual([])
      })
    }

    test('a unit is ended by its whole mark, never by a part of it', async () => {
      const { child } = await launch(shell('echo up; sleep 600'))
      await said(child.stdout, 'up')
      expect(await endKillUnit({ ...walls.unit, marker: walls.unit.marker.slice(0, -1) })).toBe(0)
      expect(await endKillUnit(walls.unit)).toBeGreaterThanOrEqual(1)
      await child.stop({ graceMs: 0 })
    })

    test('a missing program, workspace or home is refused with a sentence that names it, and nothing is left', async () => {
      await expect(launch({ file: 'no-such-agent', args: [], env: {} }, { door: true })).rejects.toThrow(
        /"no-such-agent" was not found/,
      )
      await expect(launch({ file: './no-such-agent', args: [], env: {} })).rejects.toThrow(/no-such-agent" does not exist/)
      writeFileSync(join(walls.workspace.path, 'plain.txt'), 'no program')
      await expect(launch({ file: './plain.txt', args: [], env: {} })).rejects.toThrow(/may not be executed/)
      const nowhere = join(base, 'nowhere')
      await expect(launch(shell('true'), { workspace: inPlace(nowhere) })).rejects.toThrow(/workspace .*nowhere" does not exist/)
      expect(await processesOf(walls.unit)).toEqual([])
    })

    test.each(['none', 'host'] as const)('an agent reaches us through the door (network: %s)', async (network) => {
      const answering = createServer((request, response) => response.end(`you asked for ${request.url}`))
      const asking = 'fetch(process.env.PAWL_DOOR_URL + "/tools").then((r) => r.text()).then((t) => console.log(t))'
      const { child, door } = await launch(node(asking), { door: true, network })
      door?.server.on('connection', (socket) => answering.emit('connection', socket))
      expect(door?.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
      expect(await text(child.stdout)).toBe('you asked for /tools\n')
      await child.stop({ graceMs: 0 })
      expect(door?.server.listening).toBe(false)
    })

    test("the door's address takes the place of its mark in arguments and variables", async () => {
      const command = shell('echo "$1 $WHERE $PAWL_DOOR_URL"', '{{PAWL_DOOR_URL}}/mcp')
      const { out } = await run({ ...command, env: { WHERE: 'at {{PAWL_DOOR_URL}}' } }, { door: true })
      const url = /http:\/\/127\.0\.0\.1:\d+$/.exec(out.trim())?.[0]
      expect(out.trim()).toBe(`${url}/mcp at ${url} ${url}`)
    })

    test('whether the agent left something running can be told where the walls hold', async () => {
      const { child, isAlone } = await launch(
        shell('read -r go; (setsid sleep 300 >/dev/null 2>&1 &); echo left; read -r go; echo "$go"'),
        { door: true },
      )
      expect(isAlone()).toBe(enforced)
      child.stdin.write('on\n')
      await once(child.stdout, 'data')
      expect(isAlone()).toBe(false)
      await child.stop({ graceMs: 0 })
      expect(isAlone()).toBe(false)
    })

    test.each([false, true])('a prompt written before the agent starts reaches it whole (door: %s)', async (door) => {
      const { child } = await launch(shell('wc -c'), { door })
      child.stdin.end('x'.repeat(100_000))
      expect((await text(child.stdout)).trim()).toBe('100000')
      await child.stop({ graceMs: 0 })
    })

    test.each([false, true])('the agent inherits no descriptor of ours, and no ignored signal (door: %s)', async (door) => {
      const { out } = await run(shell('ls /proc/$$/fd; grep SigIgn /proc/$$/status'), { door })
      const [signals, ...descriptors] = out.trim().split('\n').reverse()
      expect(Number(`0x${signals?.split('\t')[1]}`)).toBe(0)
      if (enforced) expect(descriptors.sort()).toEqual(['0', '1', '2'])
      else expect(descriptors.filter((fd) => Number(fd) > 2).every((fd) => isInheritedByUs(Number(fd)))).toBe(true)
    })

    test('what is hidden is not seen; workspace and home are writable; the system is not', async () => {
      const probes = `cat ${base}/store/secret.txt; touch ${walls.workspace.path}/a "$HOME/b" && echo written; touch /usr/pawl-canary && echo system`
      const { out } = await run(shell(`{ ${probes}; } 2>/dev/null; rm -f /usr/pawl-canary; true`))
      const reachesSystem = isRoot ? 'system\n' : ''
      expect(out).toBe(enforced ? 'written\n' : `the secretwritten\n${reachesSystem}`)
      expect(readdirSync(walls.workspace.path)).toEqual(['a'])
      expect(readdirSync(walls.home)).toEqual(['b'])
    })

    test('an agent behind walls is never root and holds no rights', async () => {
      const { out } = await run(shell('id -u; grep -E "CapEff|NoNewPrivs" /proc/self/status | tr -s "\\t" " "'))
      const own = process.getuid?.() ?? -1
      if (enforced) expect(out).toBe(`${user?.uid ?? own}\nCapEff: 0000000000000000\nNoNewPrivs: 1\n`)
      else expect(out.split('\n')[0]).toBe(String(own))
    })
  })
}

async function said(stream: Readable, word: string): Promise<void> {
  let heard = ''
  for (;;) {
    const chunk = stream.read() as Buffer | null
    if (chunk) heard += chunk.toString()
    if (heard.includes(word)) return
    if (stream.readableEnded) throw new Error(`ended without "${word}", after: ${heard}`)
    if (!chunk) await Promise.race([once(stream, 'readable'), once(stream, 'end')])
  }
}

/** Processes with this among their arguments, found without their environment. */
function withArgument(token: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => commandLine(pid).includes(token))
    .map(Number)
}

/** The same without the supervisor, which has the token in an argument as well. */
const inside = (token: string) =>
  withArgument(token).filter((pid) => !commandLine(String(pid)).some((word) => word === supervisor))

function commandLine(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}

const isInheritedByUs = (fd: number) => existsSync(`/proc/self/fd/${fd}`)
