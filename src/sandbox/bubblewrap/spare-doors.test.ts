import { chownSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../base/clock.ts'
import { hostPath, inPlace } from '../../domain/base/path.ts'
import type { Walls } from '../port.ts'
import { agentUser } from '../process/agent-user.ts'
import { createBubblewrap } from './sandbox.ts'

const isRoot = process.getuid?.() === 0
const user = isRoot ? agentUser : undefined
let base: string
let rested: (() => void)[]
let sandbox: ReturnType<typeof createBubblewrap>
let runs = 0

/** Its seconds pass when we say so. */
const clock: Clock = {
  ...systemClock,
  after(ms, fn) {
    if (ms !== 1_000) return systemClock.after(ms, fn)
    rested.push(fn)
    return () => {
      rested = rested.filter((other) => other !== fn)
    }
  },
}

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'pawl-spare-'))
  mkdirSync(join(base, 'one'))
  if (user) chownSync(join(base, 'one'), user.uid, user.gid)
  rested = []
  sandbox = createBubblewrap({ clock })
})
afterEach(() => {
  sandbox.ahead?.stop()
  rmSync(base, { recursive: true, force: true })
})

const networkOf = 'readlink /proc/self/ns/net; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "'
/** What a program inside sees of its network. */
async function start(changes: Partial<Walls> = {}) {
  const place = join(base, 'one')
  const walls: Walls = {
    unit: sandbox.killUnit(`pawl-spare-${process.pid}-${++runs}`, 1),
    workspace: inPlace(place),
    home: hostPath(place),
    hidden: [],
    user,
    network: 'none',
    door: true,
    limits: { processes: 64, openFiles: 100 },
    ...changes,
  }
  const { child, door } = await sandbox.launch({ file: 'sh', args: ['-c', networkOf], env: {} }, walls)
  child.stderr.resume()
  const [network, ...links] = (await text(child.stdout)).trim().split('\n')
  await child.stop({ graceMs: 0 })
  return { network, links, door }
}
const descriptors = () =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)].filter((what) => /^(net|user):/.test(what))
    } catch {
      return []
    }
  })

const spareNetwork = () => descriptors().find((what) => what.startsWith('net:'))

test('who starts next lives in the network where a door stands open, alone and once', async () => {
  await sandbox.ahead?.start()
  expect(descriptors()).toHaveLength(2)
  const spare = spareNetwork()
  const first = await start()
  expect(first).toMatchObject({ network: spare, links: ['lo'] })
  expect(first.door?.server.listening).toBe(false)
  expect(descriptors()).toEqual([])
  // Nothing was opened meanwhile: the next one gets a network of its own as ever.
  const second = await start()
  expect(second.links).toEqual(['lo'])
  expect([spare, readlinkSync('/proc/self/ns/net')]).not.toContain(second.network)
})

test('another is opened when nobody has started for a while, and none when it is over', async () => {
  await sandbox.ahead?.start()
  await start()
  await start()
  expect(rested).toHaveLength(1)
  rested.shift()?.()
  await expect.poll(descriptors).toHaveLength(2)
  const spare = spareNetwork()
  expect((await start()).network).toBe(spare)
  sandbox.ahead?.stop()
  expect(rested).toEqual([])
  await start()
  expect([rested, descriptors()]).toEqual([[], []])
})

test.runIf(isRoot)('a door is for the user it was opened for', async () => {
  await sandbox.ahead?.start()
  const spare = spareNetwork()
  chownSync(join(base, 'one'), 61_297, 61_297)
  const { network } = await start({ user: { uid: 61_297, gid: 61_297 } })
  expect(network).not.toBe(spare)
  expect(descriptors()).toHaveLength(2)
})

test('where nothing leads into a network, none is kept, and doors are opened inside', async () => {
  const bin = join(base, 'bin')
  mkdirSync(bin)
  for (const name of ['bwrap', 'setpriv', 'unshare', 'mount']) symlinkSync(join('/usr/bin', name), join(bin, name))
  sandbox = createBubblewrap({ clock, searchPath: bin })
  await expect(sandbox.ahead?.start()).rejects.toThrow(/"nsenter" was not found/)
  expect((await start()).links).toEqual(['lo'])
  expect([rested, descriptors()]).toEqual([[], []])
})
