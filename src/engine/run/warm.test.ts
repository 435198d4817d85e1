import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { HandClock } from '../../../test/engine/test-clock.ts'
import { until } from '../../../test/engine/until.ts'
import { systemClock } from '../../base/clock.ts'
import { createLog } from '../../base/log.ts'
import { hostPath, inPlace } from '../../domain/base/path.ts'
import { createNone } from '../../sandbox/none/sandbox.ts'
import { createLiveAgent, type LiveAgent } from './live-agent.ts'
import { recordChild } from './raw-log.ts'
import { createWarm, type Likeness } from './warm.ts'

describe('programs that wait', () => {
  let folder: string
  const started: LiveAgent[] = []
  let isCovered = true
  const logged: Record<string, unknown>[] = []
  const log = createLog({ level: 'debug', format: 'json', now: Date.now, write: (line) => logged.push(JSON.parse(line)) })
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pawl-warm-'))
    logged.length = 0
    isCovered = true
  })
  afterEach(async () => {
    await Promise.all(started.splice(0).map((agent) => agent.end(0)))
    rmSync(folder, { recursive: true, force: true })
  })

  /** A real process that waits for its stdin. */
  async function waitingProgram(command = { file: 'cat', args: [] as string[] }): Promise<LiveAgent> {
    const sandbox = createNone()
    const unit = sandbox.killUnit(`warm-${process.pid}-${started.length}-${Date.now()}`, 1)
    const walled = await sandbox.launch(
      { ...command, env: {} },
      {
        unit,
        workspace: inPlace(folder),
        home: hostPath(folder),
        hidden: [],
        network: 'host',
        door: false,
        limits: { processes: 64, openFiles: 64 },
      },
    )
    // Whether it is covered is asked of what stops it; these are not.
    const freezer = { freeze: async () => true, thaw: async () => {}, isCovered: () => isCovered }
    const recorded = recordChild(walled.child)
    await recorded.into(undefined)
    recorded.child.stdout.resume()
    recorded.child.stderr.resume()
    const agent = createLiveAgent({
      walled: { ...walled, freezer },
      recorded,
      conversation: {
        turn: async () => ({ outcome: 'succeeded', text: '' }),
        close: async () => void recorded.child.stdin.end(),
      },
      door: undefined,
      unit,
      environment: {},
      access: { access: { kind: 'none' }, variables: {}, secrets: () => [], returnLogin: async () => {}, close: async () => {} },
      clock: systemClock,
    })
    started.push(agent)
    return agent
  }
  const isAlive = (agent: LiveAgent) => existsSync(`/proc/${agent.pid}`)
  const gone = (agent: LiveAgent) => until(() => !isAlive(agent))
  const alike: Likeness = { model: 'm', workspace: 'w' }
  const entry = (session: string, agent: LiveAgent, likeness = alike) => ({ session, agentName: 'a', agent, likeness })
  const make = (options: Partial<Parameters<typeof createWarm>[0]> = {}) =>
    createWarm({ clock: systemClock, log, most: 4, idleMs: 60_000, freeMemory: () => 1, ...options })

  test('are given to whoever wants them alike, once', async () => {
    const warm = make()
    const agent = await waitingProgram()
    warm.keep(entry('s_1', agent))
    expect(warm.list()).toMatchObject([{ session: 's_1', agent: 'a', pid: agent.pid }])
    expect(await warm.take('s_1', { ...alike })).toBe(agent)
    expect(await warm.take('s_1', { ...alike })).toBeUndefined()
    expect(isAlive(agent)).toBe(true)
  })

  test('are ended when anything differs, and the log names what, not its value', async () => {
    const warm = make()
    const agent = await waitingProgram()
    warm.keep(entry('s_1', agent))
    expect(await warm.take('s_1', { ...alike, model: 'secret-model' })).toBeUndefined()
    expect(isAlive(agent)).toBe(false)
    expect(logged).toMatchObject([{ session: 's_1', reason: 'model' }])
    expect(JSON.stringify(logged)).not.toContain('secret-model')
  })

  test('are ended when what was covered for them is not covered any more', async () => {
    const warm = make()
    const agent = await waitingProgram()
    let ends = 0
    warm.keep({ ...entry('s_1', agent), onEnd: async () => void ends++ })
    isCovered = false
    expect(await warm.take('s_1', { ...alike })).toBeUndefined()
    expect(isAlive(agent)).toBe(false)
    expect(logged).toMatchObject([{ session: 's_1', reason: 'masks' }])
    expect(ends).toBe(1)
  })

  test('are ended when only one side knows a thing', async () => {
    const warm = make()
    const agent = await waitingProgram()
    warm.keep(entry('s_1', agent))
    expect(await warm.take('s_1', { ...alike, extra: 'x' })).toBeUndefined()
    expect(isAlive(agent)).toBe(false)
  })

  test('are ended after their time', async () => {
    const clock = new HandClock()
    const warm = make({ clock, idleMs: 180_000 })
    const agent = await waitingProgram()
    warm.keep(entry('s_1', agent))
    clock.advance(179_999)
    expect(warm.list()).toHaveLength(1)
    clock.advance(1)
    expect(warm.list()).toEqual([])
    await gone(agent)
  })

  test('are no more than allowed: who has waited longest goes', async () => {
    const warm = make({ most: 2 })
    const agents = [await waitingProgram(), await waitingProgram(), await waitingProgram()] as const
    for (const [index, agent] of agents.entries()) warm.keep(entry(`s_${index}`, agent))
    expect(warm.list().map(({ session }) => session)).toEqual(['s_1', 's_2'])
    await gone(agents[0])
    expect(isAlive(agents[1])).toBe(true)
  })

  test('are not kept at all where none may wait', async () => {
    for (const options of [{ most: 0 }, { idleMs: 0 }]) {
      const warm = make(options)
      const agent = await waitingProgram()
      warm.keep(entry('s_1', agent))
      expect(warm.list()).toEqual([])
      await gone(agent)
    }
  })

  test('go one by one while memory is short', async () => {
    const clock = new HandClock()
    let free = 1
    const warm = make({ clock, freeMemory: () => free })
    const agents = [await waitingProgram(), await waitingProgram()] as const
    for (const [index, agent] of agents.entries()) warm.keep(entry(`s_${index}`, agent))
    clock.advance(10_000)
    expect(warm.list()).toHaveLength(2)
    free = 0.05
    clock.advance(5_000)
    expect(warm.list().map(({ session }) => session)).toEqual(['s_1'])
    clock.advance(5_000)
    expect(warm.list()).toEqual([])
    await Promise.all(agents.map(gone))
  })

  test('hold their session until they are gone: nobody else starts in its home meanwhile', async () => {
    const warm = make()
    const stubborn = await waitingProgram({ file: 'sh', args: ['-c', 'trap "" TERM HUP; while :; do sleep 0.05; done'] })
    warm.keep(entry('s_1', stubborn))
    void warm.drop('s_1')
    expect(warm.list()).toEqual([])
    expect(isAlive(stubborn)).toBe(true)
    expect(await warm.take('s_1', alike)).toBeUndefined()
    expect(isAlive(stubborn)).toBe(false)
  })

  test('that die are not listed any more', async () => {
    const warm = make()
    const agent = await waitingProgram()
    warm.keep(entry('s_1', agent))
    process.kill(agent.pid, 'SIGKILL')
    await until(() => warm.list().length === 0)
    expect(await warm.take('s_1', alike)).toBeUndefined()
  })

  test('all end when Pawl stops, and none is kept afterwards', async () => {
    const warm = make()
    const agents = [await waitingProgram(), await waitingProgram()] as const
    for (const [index, agent] of agents.entries()) warm.keep(entry(`s_${index}`, agent))
    await warm.stop()
    expect(agents.some(isAlive)).toBe(false)
    const late = await waitingProgram()
    warm.keep(entry('s_9', late))
    await gone(late)
  })
})
