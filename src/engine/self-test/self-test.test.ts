import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { hostPath, inPlace } from '../../domain/base/path.ts'
import { builtinProfiles } from '../../domain/profile/builtin.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import { createBubblewrap } from '../../sandbox/bubblewrap/sandbox.ts'
import { createNone } from '../../sandbox/none/sandbox.ts'
import type { Sandbox, Walls } from '../../sandbox/port.ts'
import { agentUser } from '../../sandbox/process/agent-user.ts'
import { canaryNames } from './canaries.ts'
import { type SelfTestPlace, selfTest } from './self-test.ts'
import { createSelfTests, refusalOf } from './self-tests.ts'

const user = process.getuid?.() === 0 ? agentUser : undefined
const { guarded } = builtinProfiles
const bubblewrap = createBubblewrap()
let home: string

beforeEach(() => {
  // Not below /tmp, which is the agent's own inside: what lies there proves nothing.
  home = mkdtempSync('/var/tmp/pawl-self-test-')
  chmodSync(home, 0o755)
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const wallsOf = (place: SelfTestPlace): Walls => ({
  ...place,
  hidden: [hostPath(home)],
  user,
  network: 'none',
  door: true,
  limits: { processes: 256, openFiles: 1024 },
})
const run = (changes: Partial<Walls> = {}, options: { sandbox?: Sandbox; profile?: Profile } = {}) =>
  selfTest({
    sandbox: bubblewrap,
    profile: guarded,
    home,
    user,
    clock: systemClock,
    ...options,
    walls: (place) => ({ ...wallsOf(place), ...changes }),
  })
const escaped = async (...given: Parameters<typeof run>) => {
  const test = await run(...given)
  expect(test.failure).toBeUndefined()
  return test.escaped.map(({ canary }) => canary)
}

it('the walls of the guarded profile hold all twelve canaries, and nothing of the test is left', async () => {
  expect(canaryNames).toHaveLength(12)
  expect(await run()).toEqual({
    passed: true,
    escaped: [],
    untested: [],
    failure: undefined,
    at: expect.any(Number),
    ms: expect.any(Number),
  })
  expect(readdirSync(join(home, 'self-test'))).toEqual([])
})

it('a shared network is a hole: its loopback and its sockets without a path', async () => {
  expect(await escaped({ network: 'host' })).toEqual(['connect', 'unix socket'])
})

it('a mount of what must not be seen is a hole: read, and written if it is writable', async () => {
  const mount = (mode: 'ro' | 'rw') => ({ mounts: [{ ...inPlace(home), mode }] })
  expect(await escaped({ hidden: [], ...mount('ro') })).toEqual(['read', 'unix socket'])
  expect(await escaped({ hidden: [], ...mount('rw') })).toEqual(['read', 'write', 'unix socket'])
})

it('namespaces inside are a hole only where they were not asked for', async () => {
  const sandbox: Sandbox = {
    ...bubblewrap,
    launch: (command, walls) => bubblewrap.launch(command, { ...walls, nestedNamespaces: true }),
  }
  expect(await escaped({}, { sandbox })).toEqual(['mount'])
  expect((await run({ nestedNamespaces: true })).passed).toBe(true)
})

it('a way out that leads where the profile does not allow is a hole', async () => {
  // A relay that connects whoever comes to whatever they name.
  const launch: Sandbox['launch'] = async (command, walls) => {
    const walled = await bubblewrap.launch(command, walls)
    walled.door?.server.on('connection', (socket) => {
      socket.once('data', (wish) => {
        const port = /127\.0\.0\.1:(\d+)/.exec(wish.toString('latin1'))?.[1]
        if (port)
          connect(Number(port), '127.0.0.1')
            .on('error', () => socket.destroy())
            .pipe(socket)
      })
    })
    // Nobody else serves the door.
    return { ...walled, door: walled.door && { ...walled.door, server: createServer() } }
  }
  expect(await escaped({}, { sandbox: { ...bubblewrap, launch } })).toEqual(['relay'])
})

it('what a profile allows by name is no hole, and walls without a door have no way out to try', async () => {
  const test = await run({ door: false })
  expect([test.passed, test.untested]).toEqual([true, [{ canary: 'relay', why: 'the walls have no way out to try' }]])
})

it('a variable that was not given is a hole', async () => {
  const launch: Sandbox['launch'] = (command, walls) =>
    bubblewrap.launch({ ...command, env: { ...command.env, SECRET: 'x' } }, walls)
  expect(await escaped({}, { sandbox: { ...bubblewrap, launch } })).toEqual(['env'])
})

it('without walls almost everything gets out, so the probes are real ones', async () => {
  const none = createNone()
  const drop = user ? ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', '--'] : []
  // As root it would really mount something, so nobody is root here.
  const launch: Sandbox['launch'] = (command, walls) => {
    const [file = '', ...args] = [...drop, command.file, ...command.args]
    return none.launch({ ...command, file, args }, walls)
  }
  expect(await escaped({}, { sandbox: { ...none, launch } })).toEqual(
    expect.arrayContaining(['read', 'write', 'connect', 'proc', 'ptrace', 'mount', 'unix socket', 'signal']),
  )
})

it('walls that cannot be built are no pass', async () => {
  const test = await run({}, { sandbox: createBubblewrap({ searchPath: '/nowhere' }) })
  expect(test).toMatchObject({ passed: false, escaped: [], failure: expect.stringContaining('could not be tried') })
  expect(refusalOf(test, 'guarded')).toMatch(
    /^The walls of the profile "guarded" do not hold, so nothing starts in them\. .*doctor/,
  )
})

it('a probe that is cut off is no pass', async () => {
  const launch: Sandbox['launch'] = (_, walls) => bubblewrap.launch({ file: 'true', args: [], env: {} }, walls)
  expect((await run({}, { sandbox: { ...bubblewrap, launch } })).failure).toMatch(/ended too early/)
})

it('profiles that say the same are tried once, one that failed is tried again, and all can be shown', async () => {
  let launches = 0
  let isBroken = false
  const launch: Sandbox['launch'] = (command, walls) => {
    launches++
    return bubblewrap.launch(command, { ...walls, network: isBroken ? 'host' : walls.network })
  }
  mkdirSync(join(home, 'store'))
  const tests = createSelfTests({
    sandbox: { ...bubblewrap, launch },
    home,
    user,
    clock: systemClock,
    walls: (_, place) => wallsOf(place),
  })
  const [one, two] = await Promise.all([tests.forProfile(guarded), tests.forProfile({ ...guarded, name: 'mine' })])
  expect([launches, one]).toEqual([1, two])
  isBroken = true
  const wider = { ...guarded, name: 'wider', otherwise: 'ask' as const }
  await expect(tests.assertHolds(wider)).rejects.toThrow(/"wider" do not hold.*connect: A server on this machine's own loopback/)
  isBroken = false
  await tests.assertHolds(wider)
  expect(launches).toBe(3)
  expect(tests.views().map(({ profile, passed, canaries }) => [profile, passed, canaries.length])).toEqual([
    ['guarded', true, 12],
    ['mine', true, 12],
    ['wider', true, 12],
  ])
  expect(existsSync(join(home, 'store'))).toBe(true)
})
