import { describe, expect, it, test } from 'vitest'
import { HandClock } from '../../../test/engine/test-clock.ts'
import type { Use } from '../../sandbox/process/use.ts'
import { isBusy, judgeWork, lengthOf, type Signs, WorkWatch, workLimits } from './working.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const limits = workLimits(5 * minute)

describe('judgeWork', () => {
  const now = 100 * hour
  const ago = (ms: number) => now - ms
  const call = (ms: number, id = 'c') => ({ id, tool: 'Bash', input: {}, since: ago(ms) })
  const judged = (signs: Partial<Signs>) => judgeWork(now, { newsAt: ago(0), calls: [], ...signs }, limits)
  const until = (ms: number) => ({ kind: 'working', until: now + ms })

  it.each<[string, Partial<Signs>, object]>([
    ['news counts until the idle limit', { newsAt: ago(4 * minute) }, until(minute)],
    ['silence at the idle limit is a stall', { newsAt: ago(5 * minute) }, { kind: 'stalled' }],
    ['an open call counts for four hours', { newsAt: ago(3 * hour), calls: [call(3 * hour)] }, until(hour)],
    [
      'a call that is open for four hours is asked about',
      { newsAt: ago(4 * hour), calls: [call(4 * hour)] },
      { kind: 'overlong', call: call(4 * hour) },
    ],
    ['an old call asks nothing while there is news', { newsAt: ago(minute), calls: [call(9 * hour)] }, until(4 * minute)],
    ['the newest of several calls decides', { newsAt: ago(hour), calls: [call(9 * hour), call(hour, 'd')] }, until(3 * hour)],
    ['a busy program counts', { newsAt: ago(20 * minute), activeAt: ago(minute) }, until(4 * minute)],
    ['but for half an hour only', { newsAt: ago(28 * minute), activeAt: ago(0) }, until(2 * minute)],
    ['and is a stall then', { newsAt: ago(30 * minute), activeAt: ago(0) }, { kind: 'stalled' }],
    ['one that was busy long ago is a stall', { newsAt: ago(20 * minute), activeAt: ago(5 * minute) }, { kind: 'stalled' }],
    [
      'use of the CPU does not lengthen a call of four hours',
      { newsAt: ago(4 * hour), activeAt: ago(0), calls: [call(4 * hour)] },
      { kind: 'overlong', call: call(4 * hour) },
    ],
    ['progress counts without a call that we know', { newsAt: ago(hour), progressAt: ago(minute) }, until(4 * minute)],
    ['but for four hours only', { newsAt: ago(4 * hour), progressAt: ago(0) }, { kind: 'stalled' }],
  ])('%s', (_, signs, work) => {
    expect(judged(signs)).toEqual(work)
  })

  it('a longer idle limit is allowed to busy programs and open calls, too', () => {
    expect(workLimits(6 * hour)).toEqual({ idleMs: 6 * hour, busyMs: 6 * hour, callMs: 6 * hour })
  })

  it('never answers a time to look again that has passed', () => {
    let seed = 7
    const random = (most: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % most
    }
    for (let times = 0; times < 20_000; times++) {
      const calls = Array.from({ length: random(3) }, (_, n) => call(random(6 * hour), String(n)))
      const work = judged({
        newsAt: ago(random(6 * hour)),
        ...(random(2) ? { activeAt: ago(random(hour)) } : {}),
        ...(random(2) ? { progressAt: ago(random(hour)) } : {}),
        calls,
      })
      if (work.kind === 'working') expect(work.until).toBeGreaterThan(now)
      else expect(work.kind === 'overlong').toBe(calls.length > 0)
    }
  })
})

const none: Use = { cpuMs: 0, diskBytes: 0, bytes: 0 }

test('a heartbeat is no work; a compiler, a copy and a download are', () => {
  const within = (use: Partial<Use>) => isBusy(none, { ...none, ...use }, 15 * second)
  expect(within({})).toBe(false)
  // A timer that fires twenty times a second.
  expect(within({ cpuMs: 150, bytes: 200_000 })).toBe(false)
  expect(within({ cpuMs: 500 })).toBe(true)
  expect(within({ diskBytes: 1_000_000 })).toBe(true)
  expect(within({ bytes: 5_000_000 })).toBe(true)
  // Between two short looks a single tick of the kernel's clock says nothing.
  expect(isBusy(none, { ...none, cpuMs: 10 }, 100)).toBe(false)
  // What has ended takes with it what it used.
  expect(isBusy({ ...none, cpuMs: 9_000 }, none, 15 * second)).toBe(false)
})

describe('WorkWatch', () => {
  function watched(idleMs = 5 * minute) {
    const clock = new HandClock()
    const said: string[] = []
    const use = { ...none }
    let samples = 0
    const watch = new WorkWatch({
      clock,
      limits: workLimits(idleMs),
      use: () => {
        samples++
        return { ...use }
      },
      onStall: (seen) => said.push(`stalled: ${seen}`),
      onOverlong: ({ tool }, now) => said.push(`overlong ${tool} ${now > 0}`),
    })
    watch.start()
    /** Time passes in steps, in each of which something happens. */
    const pass = (ms: number, each: () => void = () => undefined, stepMs = 10 * second) => {
      for (let gone = 0; gone < ms; gone += stepMs) {
        each()
        clock.advance(stepMs)
      }
    }
    return { clock, watch, said, use, pass, samples: () => samples }
  }
  const bash = { id: 'c', tool: 'Bash', input: { command: 'make' } }

  it('a silent program is stalled after the idle limit, and it is said what was seen last', () => {
    const { watch, said, pass } = watched()
    watch.called(bash)
    watch.returned('c')
    pass(4 * minute)
    expect(said).toEqual([])
    pass(minute)
    expect(said).toEqual(['stalled: nothing for 5 min. Last seen: the return of Bash; no tool call was open.'])
    pass(hour)
    expect(said).toHaveLength(1)
  })

  it('an open call of ninety minutes is no stall, is not measured, and its return begins the silence', () => {
    const { watch, said, pass, samples } = watched()
    watch.called(bash)
    pass(90 * minute)
    expect([said, samples()]).toEqual([[], 0])
    watch.returned('c')
    pass(6 * minute)
    expect(said).toEqual([expect.stringContaining('Last seen: the return of Bash')])
  })

  it('a call without an end is asked about after four hours, and again as long as nobody could be asked', () => {
    const { watch, said, pass } = watched()
    watch.called(bash)
    pass(4 * hour - minute, () => watch.sign('call'))
    expect(said).toEqual([])
    pass(2 * minute)
    expect(said).toEqual(['overlong Bash true'])
    pass(5 * minute)
    expect(said).toEqual(['overlong Bash true', 'overlong Bash true'])
  })

  it('a busy program has half an hour, and a heartbeat no more', () => {
    const busy = watched()
    busy.pass(29 * minute, () => {
      busy.use.cpuMs += 5_000
    })
    expect(busy.said).toEqual([])
    expect(busy.watch.doing()).toMatchObject({ kind: 'busy' })
    busy.pass(2 * minute, () => {
      busy.use.cpuMs += 5_000
    })
    expect(busy.said).toEqual([expect.stringMatching(/nothing for 30 min\..*It used the CPU or did I\/O until .* ago/)])
    const alive = watched()
    alive.pass(29 * minute, () => alive.watch.sign('heartbeat'))
    expect(alive.said).toEqual([])
    alive.pass(2 * minute, () => alive.watch.sign('heartbeat'))
    expect(alive.said).toHaveLength(1)
  })

  it('news begins anew, whatever the program used before', () => {
    const { watch, said, pass } = watched()
    pass(3 * hour, () => watch.sign('news'))
    expect(said).toEqual([])
  })

  it('time in which it was kept from working is not its silence, and not that of its calls', () => {
    const { watch, said, pass } = watched()
    watch.called(bash)
    pass(3 * hour)
    watch.hold()
    pass(9 * hour)
    watch.goOn()
    pass(hour - minute)
    expect(said).toEqual([])
    pass(2 * minute)
    expect(said).toEqual(['overlong Bash true'])
  })

  it('time in which nobody looked is no silence if something came meanwhile, and is one otherwise', () => {
    const { clock, watch, said, pass } = watched()
    pass(minute)
    clock.sleep(hour)
    expect(said).toEqual([])
    watch.sign('news')
    pass(4 * minute)
    expect(said).toEqual([])
    clock.sleep(hour)
    pass(10 * second)
    expect(said).toHaveLength(1)
  })

  it('says what is being done and since when', () => {
    const { clock, watch, pass } = watched()
    const since = clock.monotonic()
    expect(watch.doing()).toEqual({ kind: 'working', since })
    pass(minute)
    expect(watch.doing()).toEqual({ kind: 'silent', since })
    const over = watch.modelCalled()
    const asked = clock.monotonic()
    pass(20 * second)
    expect(watch.doing()).toEqual({ kind: 'model', since: asked })
    over()
    watch.called(bash)
    const called = clock.monotonic()
    pass(12 * minute)
    expect(watch.doing()).toEqual({ kind: 'tool', name: 'Bash', since: called })
    watch.stop()
    expect(watch.doing()).toBeUndefined()
  })
})

test('lengths of time are written in the units that people use', () => {
  expect([1_500, 45_000, 5 * minute, 4 * hour, 90 * minute].map(lengthOf)).toEqual([
    '1.5 s',
    '45 s',
    '5 min',
    '4 h',
    '1 h 30 min',
  ])
})
