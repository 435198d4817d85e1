import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createWalledWorld, starters } from '../../../test/contracts/walled-world.ts'
import { until } from '../../../test/engine/until.ts'
import { systemClock } from '../../base/clock.ts'
import { hostPath, inPlace } from '../../domain/base/path.ts'
import { agentUser } from '../process/agent-user.ts'
import type { Child } from '../process/child.ts'
import { childrenOf, isAlive, processIdentity } from '../process/identity.ts'
import { freezableGroup } from './cgroup.ts'
import { createFreezer } from './freezer.ts'
import { createBubblewrap } from './sandbox.ts'

const user = process.getuid?.() === 0 ? agentUser : undefined
const sandbox = createBubblewrap()
const group = freezableGroup()
const ways = { signals: undefined, ...(group === undefined ? {} : { 'a control group': group }) }
/** Numbers of system calls that Perl has no name for. */
const calls = { x64: { exit: 60, create: 222, set: 223 }, arm64: { exit: 93, create: 107, set: 110 } }[
  process.arch as 'x64' | 'arm64'
]

test.each(starters)('%s freezes what lives in a sandbox, and lets it go on', async (starter) => {
  const world = createWalledWorld(starter)
  onTestFinished(() => world.remove())
  const program = [
    'const fs = require("node:fs"); let times = 0, last = Date.now(), longest = 0',
    'setInterval(() => { const now = Date.now(); longest = Math.max(longest, now - last); last = now; fs.appendFileSync("ticks", "x")',
    'if (times++ === 20) console.log("up"); if (longest > 900) { console.log("paused"); process.exit() } }, 10)',
  ]
  world.file('project/program.cjs', program.join(';\n'))
  const { out, err } = await world.run(`${world.node} program.cjs`, {}, { freezeMs: 1_000 })
  expect([out.trim().split('\n').toSorted(), err]).toEqual([['frozen: true, covered: true', 'paused', 'up'], ''])
})

describe.each(Object.entries(ways))('a sandbox frozen by %s', (_, group) => {
  let folder: string
  const started: { child: Child; close(): void }[] = []
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pawl-freezer-'))
    mkdirSync(join(folder, 'one'))
    if (user) chownSync(join(folder, 'one'), user.uid, user.gid)
  })
  afterEach(async () => {
    for (const { child, close } of started.splice(0)) {
      await child.stop({ graceMs: 0 })
      close()
    }
    rmSync(folder, { recursive: true, force: true })
  })

  /** A program inside that has made the file `up`, and what freezes it in this way. */
  async function start(file: string, ...args: string[]) {
    const place = join(folder, 'one')
    const unit = sandbox.killUnit(`pawl-freezer-${process.pid}-${Math.random()}`, 1)
    const { child } = await sandbox.launch(
      { file, args, env: {} },
      {
        unit,
        workspace: inPlace(place),
        home: hostPath(place),
        hidden: [],
        user,
        network: 'none',
        door: false,
        limits: { processes: 128, openFiles: 100 },
      },
    )
    child.stdout.resume()
    child.stderr.resume()
    const first = processIdentity(childrenOf(child.pid)[0])
    const freezer = createFreezer({ first, group, name: unit.marker, clock: systemClock })
    started.push({ child, close: () => freezer.close() })
    await until(() => existsSync(join(place, 'up')))
    return { child, first, freezer, ticks: () => readFileSync(join(place, 'ticks'), 'utf8').length }
  }
  const ticking = 'while :; do printf x >> ticks; : > up; sleep 0.01; done'

  test('does nothing until it is let go on, as often as that is done', async () => {
    const { freezer, ticks } = await start('sh', '-c', ticking)
    for (let times = 0; times < 3; times++) {
      expect(await freezer.freeze()).toBe(true)
      const before = ticks()
      await pause(150)
      expect(ticks()).toBe(before)
      await freezer.thaw()
      await until(() => ticks() > before)
    }
  })

  test('is stopped whole, however fast what lives in it starts the next and ends', async () => {
    // Each generation leaves its session and outlives the one before for a moment only.
    const chain = `syswrite F, "x"; for (1..4) { next if fork; setpgrp; open F, ">>", "ticks"; $n = 0; while (1) { syswrite F, "x"; exit if fork; } }`
    const { freezer, ticks } = await start('perl', '-e', `open F, ">>", "ticks"; open U, ">", "up"; ${chain} sleep 60`)
    for (let times = 0; times < 5; times++) {
      expect(await freezer.freeze()).toBe(true)
      const before = ticks()
      await pause(50)
      expect(ticks()).toBe(before)
      await freezer.thaw()
      await until(() => ticks() > before)
    }
  })

  test('is stopped with a process whose first thread has ended', async () => {
    const thread =
      'open my $f, ">>", "ticks"; while (1) { syswrite $f, "x"; open U, ">", "up"; select undef, undef, undef, 0.01 }'
    const { freezer, ticks } = await start(
      'perl',
      '-Mthreads',
      '-e',
      `threads->create(sub { ${thread} }); syscall ${calls.exit}, 0`,
    )
    expect(await freezer.freeze()).toBe(true)
    const before = ticks()
    await pause(150)
    expect(ticks()).toBe(before)
  })

  test('is not woken by a timer of its own, or is not said to be frozen', async () => {
    // A struct sigevent that asks for SIGCONT, and a struct itimerspec of 20 ms, again and again.
    const program = [
      'open F, ">>", "ticks"; syswrite F, "x"; $id = pack "i", 0; $SIG{CONT} = sub { syswrite F, "x" }',
      `syscall(${calls.create}, 1, my $event = pack("q i i x48", 0, 18, 0), $id) == 0 or die $!`,
      `syscall(${calls.set}, unpack("i", $id), 0, my $at = pack("q4", 0, 20_000_000, 0, 20_000_000), 0) == 0 or die $!`,
      'open U, ">", "up"; sleep 1 while 1',
    ]
    const { freezer, ticks, child } = await start('perl', '-e', program.join('; '))
    await until(() => ticks() > 2)
    const isFrozen = await freezer.freeze()
    expect(isFrozen).toBe(group !== undefined)
    const before = ticks()
    await pause(100)
    if (isFrozen) expect(ticks()).toBe(before)
    await child.stop({ graceMs: 0 })
  })

  test('dies at once when it is killed, and when whoever started it is', async () => {
    const { freezer, child, first } = await start('sh', '-c', `trap "" TERM; ${ticking}`)
    expect(await freezer.freeze()).toBe(true)
    const began = performance.now()
    await child.stop({ graceMs: 0 })
    expect(performance.now() - began).toBeLessThan(1_000)
    expect(isAlive(first)).toBe(false)
    expect(await freezer.freeze()).toBe(false)
    expect(freezer.isCovered()).toBe(false)
  })

  test('leaves no control group behind', async () => {
    const { freezer, child, first } = await start('sh', '-c', ticking)
    await freezer.freeze()
    const name = readFileSync(`/proc/${first.pid}/cgroup`, 'utf8').match(/pawl-freezer-[\d.-]+/)?.[0]
    expect(name === undefined).toBe(group === undefined)
    await child.stop({ graceMs: 0 })
    freezer.close()
    if (group !== undefined) expect(existsSync(join(group, `pawl-${name}`))).toBe(false)
  })
})
