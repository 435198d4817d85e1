import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWalledWorld, starters, type WalledWorld } from '../../../test/contracts/walled-world.ts'
import { systemClock } from '../../base/clock.ts'
import { hostPath, inPlace } from '../../domain/base/path.ts'
import type { Walls } from '../port.ts'
import { childrenOf } from '../process/identity.ts'
import { createMemoryWatch } from './memory-watch.ts'
import { createBubblewrap } from './sandbox.ts'

const limits = { processes: 48, openFiles: 64, memoryBytes: 150_000_000, fileBytes: 1_000_000 }

describe.each(starters)('the limits of walls that %s built', (starter) => {
  let world: WalledWorld
  beforeAll(() => {
    world = createWalledWorld(starter)
  })
  afterAll(() => world.remove())

  test('no file grows beyond its limit, and a program that goes on writing dies of it', async () => {
    const { out } = await world.run('head -c 3000000 /dev/zero > big; echo $?; wc -c < big; rm big; ulimit -c; ulimit -n', {
      limits,
    })
    expect(out).toBe('153\n999936\n0\n64\n')
  })

  test('all is ended, and it is told why, when the tree takes more memory than it may, however it is divided among processes', async () => {
    const eat = `perl -e '$x = "x" x 40_000_000; print "ate\\n"; sleep 60'`
    const { out, code } = await world.run(`for i in 1 2 3 4 5 6; do ${eat} & done; wait`, { limits })
    expect([out.trim().split('\n').at(-1), code]).toEqual(['over its limit of memory', 1])
  })

  test('files in memory count, and all the room for them is no more than the memory', async () => {
    const { fileBytes, ...some } = limits
    const sizes = await world.run('df -P -B1 /tmp /var/tmp /run /dev/shm | tail -n +2', { limits: some })
    const bytes = [...sizes.out.matchAll(/^tmpfs +(\d+)/gm)].map(([, size]) => Number(size))
    expect(bytes.length).toBe(4)
    expect(bytes.reduce((all, one) => all + one)).toBeLessThanOrEqual(some.memoryBytes)
    const fill = 'for d in /tmp /var/tmp /run /dev/shm; do head -c 200000000 /dev/zero > $d/full; done 2>/dev/null'
    const { out } = await world.run(`${fill}; perl -e '$x = "x" x 20_000_000; print "ate\\n"; sleep 60'`, { limits: some })
    expect(out.trim().split('\n').at(-1)).toBe('over its limit of memory')
  })

  test('empty files in memory count, so that millions of them fill nobody else’s', async () => {
    const make = `perl -e 'for my $n (1..400_000) { open(my $f, ">", "/tmp/$n") or last } print "made\\n"; sleep 60'`
    const { out } = await world.run(make, { limits })
    expect(out.trim().split('\n').at(-1)).toBe('over its limit of memory')
  })

  test('a bomb of processes goes off in its own walls only, and is cleared away', async () => {
    const bomb = 'b() { b | b & b; }; (b) 2>/dev/null; sleep 0.2; ls -d /proc/[0-9]* | wc -l'
    const { out, err } = await world.run(`(sleep 1; kill -9 -1) & ${bomb}; echo over`, { limits })
    expect(`${out}${err}`).not.toMatch(/limit of memory/)
    expect((await world.run('echo usable')).out).toBe('usable\n')
  })
})

test('what one process shares with another counts once', async () => {
  const over: string[] = []
  const watch = createMemoryWatch(systemClock)
  const weigh = (pid: number, bytes: number, name: string) => watch.add({ pid, bytes }, () => over.push(name))
  const stops = [weigh(process.pid, 1_000, 'small'), weigh(process.pid, 100 * 1024 ** 3, 'large')]
  await expect.poll(() => over, { timeout: 5_000 }).toEqual(['small'])
  for (const stop of stops) stop()
})

test('each limit names what holds it', async () => {
  const world = createWalledWorld(starters[0] ?? 'a plain user')
  const bubblewrap = createBubblewrap()
  const walls: Walls = {
    ...{ unit: bubblewrap.killUnit(`held-${process.pid}`, 1), workspace: inPlace(world.workspace) },
    ...{ home: hostPath(world.home), hidden: [], network: 'none', door: false, limits },
    user: process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined,
  }
  const held = async (some: Walls['limits']) => {
    const walled = await bubblewrap.launch({ file: 'true', args: [], env: {} }, { ...walls, limits: some })
    await walled.child.stop({ graceMs: 0 })
    return walled.held
  }
  expect(await held(limits)).toEqual({
    processes: expect.stringMatching(/^(tree|none)$/),
    openFiles: 'process',
    memory: expect.stringMatching(/^(tree|watched)$/),
    file: 'process',
  })
  expect(await held({ processes: 10, openFiles: 10 })).toMatchObject({ memory: 'none', file: 'none' })
  world.remove()
})

test('walls whose first process was stopped from inside, or whose agent stopped everything, are ended', async () => {
  const world = createWalledWorld(starters[0] ?? 'a plain user')
  const bubblewrap = createBubblewrap()
  const { child } = await bubblewrap.launch(
    { file: 'sh', args: ['-c', 'echo up; kill -STOP 1; kill -STOP -1; kill -STOP $$'], env: {} },
    {
      ...{ unit: bubblewrap.killUnit(`hang-${process.pid}`, 1), workspace: inPlace(world.workspace) },
      ...{ home: hostPath(world.home), hidden: [], network: 'none', door: false, limits },
      user: process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined,
    },
  )
  child.stderr.resume()
  for await (const chunk of child.stdout) if (String(chunk).includes('up')) break
  const [first = 0] = childrenOf(child.pid)
  // What an agent cannot do to the first process somebody outside can.
  process.kill(first, 'SIGSTOP')
  const since = performance.now()
  expect(await child.stop({ graceMs: 100 })).toEqual({ code: null, signal: 'SIGKILL' })
  expect(performance.now() - since).toBeLessThan(20_000)
  world.remove()
})
