import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { denied, unavailable } from '../../src/domain/error.ts'
import type { When } from '../../src/domain/schedule/schedule.ts'
import { takeFromSettings } from '../../src/engine/schedules/from-settings.ts'
import { rememberRefused } from '../../src/engine/schedules/refused.ts'
import { createTicker } from '../../src/engine/schedules/ticker.ts'
import { makeWorld, type World } from './schedule-world.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

let world: World
const closers: (() => Promise<void>)[] = []
beforeAll(async () => {
  world = await makeWorld((close) => void closers.push(close))
})
afterAll(async () => {
  for (const close of closers) await close()
})
afterEach(async () => {
  world.refusal = undefined
  await sql`delete from pawl.schedules`.execute(world.db)
})

const daily: When = { kind: 'cron', expression: '0 7 * * *', timeZone: 'Europe/Berlin' }
const everyHour: When = { kind: 'every', everyMs: hour }
/** The clock stands at that moment, as if nobody had ever looked. */
const setClock = (iso: string) => world.clock.jump(Date.parse(iso) - world.clock.now())

describe('schedules', () => {
  it('fire once at each time they are due, through a change of clocks, for three weeks', async () => {
    setClock('2030-03-20T12:00:00Z')
    const { id } = await world.add(daily)
    for (let days = 0; days < 21; days++) {
      await world.pass(day, 6 * hour)
      await world.end(id)
    }
    const ticks = await world.ticks(id)
    expect(ticks).toHaveLength(21)
    expect(ticks.slice(9, 13)).toEqual([
      '2030-03-30T06:00 succeeded',
      '2030-03-31T05:00 succeeded',
      '2030-04-01T05:00 succeeded',
      '2030-04-02T05:00 succeeded',
    ])
    expect(await world.tasksOf(id)).toHaveLength(21)
    expect((await world.verbs.getSchedule(id)).health).toEqual({ healthy: true, failedInARow: 0, detail: null })
  })

  it('show the next five times with the offset and the zone', async () => {
    setClock('2030-10-25T12:00:00Z')
    const { next } = await world.add(daily)
    expect(next.map(({ local }) => local)).toEqual([
      '2030-10-26 07:00 +02:00 Europe/Berlin',
      '2030-10-27 07:00 +01:00 Europe/Berlin',
      '2030-10-28 07:00 +01:00 Europe/Berlin',
      '2030-10-29 07:00 +01:00 Europe/Berlin',
      '2030-10-30 07:00 +01:00 Europe/Berlin',
    ])
  })

  it('a moment comes once, and the schedule is done', async () => {
    setClock('2030-05-01T12:00:00Z')
    await expect(world.add({ kind: 'at', at: '2030-05-01T11:00:00Z' })).rejects.toThrow(/has passed already/)
    const { id } = await world.add({ kind: 'at', at: '2030-05-02T09:00:00+02:00' })
    await world.pass(2 * day, 5 * hour)
    expect(await world.ticks(id)).toEqual(['2030-05-02T07:00 running'])
    expect((await world.verbs.getSchedule(id)).state).toBe('done')
    await expect(world.verbs.resumeSchedule(id, { by: 'test' })).rejects.toThrow(/is done/)
  })

  it('an initial prompt is sent once, however often daemons start', async () => {
    setClock('2030-05-01T12:00:00Z')
    const { id } = await world.add({ kind: 'initial' }, { name: 'hello' })
    for (let starts = 0; starts < 3; starts++) await world.makeTicker().look()
    await world.pass(day, hour)
    expect(await world.tasksOf(id)).toHaveLength(1)
    expect((await world.verbs.getSchedule('hello')).state).toBe('done')
  })

  it('two daemons at one moment fire one tick and make one task', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add(everyHour)
    const others = Array.from({ length: 4 }, () => world.makeTicker())
    for (let hours = 0; hours < 5; hours++) {
      world.clock.advance(hour)
      await Promise.all(others.map((ticker) => ticker.look()))
      await world.end(id)
    }
    expect(await world.ticks(id)).toHaveLength(5)
    expect(await world.tasksOf(id)).toHaveLength(5)
  })

  it('jitter moves when a tick is fired, not when it is due, and always by the same', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id, next } = await world.add(everyHour, { jitterMs: 10 * minute })
    await world.pass(3 * hour + 10 * minute, minute)
    const { ticks } = await world.verbs.getSchedule(id)
    expect(ticks.map(({ dueAt }) => dueAt.slice(11, 16)).toReversed()).toEqual(['13:30', '14:30', '15:30'])
    // Somebody looks every minute.
    const late = ticks.toReversed().map(({ firedAt }, index) => Date.parse(firedAt) - Date.parse(next[index]!.at))
    expect(late.every((ms) => ms >= 0 && ms <= minute)).toBe(true)
    expect(
      next.every(({ at }, index) => Date.parse(at) % hour >= 30 * minute && Date.parse(at) % hour < 40 * minute && index >= 0),
    ).toBe(true)
  })
})

describe('a time without a daemon', () => {
  const away = async (catchUp: 'none' | 'one' | 'all', given = {}) => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add(everyHour, { catchUp, overlap: 'queue', ...given })
    await world.pass(hour, hour)
    await world.end(id)
    world.clock.sleep(4 * hour + 20 * minute)
    for (let looks = 0; looks < 6; looks++) {
      await world.ticker.look()
      await world.end(id)
    }
    return id
  }
  it('is made up for by the last one', async () => {
    expect(await world.ticks(await away('one'))).toEqual([
      '2030-05-01T13:30 succeeded',
      '2030-05-01T16:30 missed',
      '2030-05-01T17:30 succeeded',
    ])
  })
  it('is made up for whole, one after another', async () => {
    const id = await away('all')
    expect(await world.ticks(id)).toEqual(['13', '14', '15', '16', '17'].map((at) => `2030-05-01T${at}:30 succeeded`))
  })
  it('is not made up for, and that is said', async () => {
    const id = await away('none')
    expect(await world.ticks(id)).toEqual(['2030-05-01T13:30 succeeded', '2030-05-01T17:30 missed'])
    expect((await world.verbs.getSchedule(id)).lastTick?.detail).toMatch(/4 times passed while nothing could fire it/)
    await world.pass(hour, 10 * minute)
    expect((await world.ticks(id)).at(-1)).toBe('2030-05-01T18:30 running')
  })
  it('a daemon that is back within a minute has missed nothing', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add(everyHour, { catchUp: 'none' })
    world.clock.sleep(hour + 50 * second)
    await world.ticker.look()
    expect(await world.ticks(id)).toEqual(['2030-05-01T13:30 running'])
  })
  it('of years of minutes no more than a hundred are made up for', async () => {
    setClock('2030-05-01T12:30:00Z')
    const minutely: When = { kind: 'cron', expression: '* * * * *', timeZone: 'UTC' }
    const { id } = await world.add(minutely, { catchUp: 'all', overlap: 'queue' })
    world.clock.sleep(700 * day)
    await world.ticker.look()
    const { rows } = await sql<{ state: string; count: number }>`
      select state, count(*) as count from pawl.schedule_ticks where schedule_id = ${id} group by state order by state`.execute(
      world.db,
    )
    expect(rows).toEqual([
      { state: 'running', count: 1 },
      { state: 'waiting', count: 99 },
    ])
  })
})

describe('clocks that are set', () => {
  it.each([hour, day])(
    'back by %i ms: an interval of a minute goes on within that minute, and fires nothing twice',
    async (backMs) => {
      setClock('2030-05-01T12:30:00Z')
      const { id } = await world.add({ kind: 'every', everyMs: minute })
      const passMinutes = async (count: number) => {
        for (let gone = 0; gone < count; gone++) {
          await world.pass(minute, 10 * second)
          await world.end(id)
        }
      }
      await passMinutes(5)
      expect(await world.tasksOf(id)).toHaveLength(5)
      world.clock.jump(-backMs)
      await passMinutes(5)
      // The first of them may come up to an interval later.
      expect((await world.tasksOf(id)).length).toBeGreaterThanOrEqual(9)
      expect((await world.tasksOf(id)).length).toBeLessThanOrEqual(10)
    },
  )
  it('back by half an interval: the next comes within a whole one, and nothing is fired twice', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add(everyHour)
    await world.pass(2 * hour, 10 * minute)
    await world.end(id)
    world.clock.jump(-30 * minute)
    await world.pass(90 * minute, 10 * minute)
    expect(await world.ticks(id)).toEqual(['2030-05-01T13:30 succeeded', '2030-05-01T14:30 skipped', '2030-05-01T15:10 running'])
  })
  it('back by years, from where they never were: the schedule goes on by the right time', async () => {
    setClock('2038-01-01T00:00:00Z')
    const { id } = await world.add(daily)
    await world.pass(2 * day, 6 * hour)
    await world.end(id)
    expect(await world.ticks(id)).toHaveLength(2)
    setClock('2030-05-01T12:00:00Z')
    await world.pass(2 * day, 6 * hour)
    const made = (await world.tasksOf(id)).filter(({ created_at }) => created_at.getUTCFullYear() === 2030)
    expect(made).toHaveLength(1)
    expect(await world.ticks(id)).toContain('2030-05-02T05:00 running')
    expect(await world.ticks(id)).toContain('2030-05-03T05:00 skipped')
  })
  it('back by years: a time of rest is counted by the right time too', async () => {
    setClock('2038-01-01T00:00:00Z')
    const { id } = await world.add({ kind: 'idle', idleMs: hour, of: 'agent' }, { task: { prompt: 'x', agent: 'astray' } })
    await world.pass(2 * hour, 10 * minute)
    await world.end(id)
    setClock('2030-05-01T12:00:00Z')
    await world.pass(2 * hour, 10 * minute)
    expect(await world.tasksOf(id)).toHaveLength(2)
  })
  it('back by two days: what was fired is not fired again', async () => {
    setClock('2030-05-03T12:30:00Z')
    const { id } = await world.add(daily)
    const days = async (count: number) => {
      for (let gone = 0; gone < count; gone++) {
        await world.pass(day, 6 * hour)
        await world.end(id)
      }
      return (await world.ticks(id)).map((tick) => tick.slice(8, 10)).join(' ')
    }
    expect(await days(3)).toBe('04 05 06')
    world.clock.jump(-2 * day)
    expect(await days(3)).toBe('04 05 06 07')
    expect(await world.tasksOf(id)).toHaveLength(4)
  })
  it('forward by a day: made up for as after a day without a daemon', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add(everyHour)
    world.clock.jump(day)
    await world.ticker.look()
    expect(await world.ticks(id)).toEqual(['2030-05-02T11:30 missed', '2030-05-02T12:30 running'])
  })
})

describe('a tick that comes while the task of the one before goes on', () => {
  it('is left out, which is told after the third time', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add(everyHour)
    await world.pass(3 * hour, 20 * minute)
    expect(await world.ticks(id)).toEqual(['2030-05-01T13:30 running', '2030-05-01T14:30 skipped', '2030-05-01T15:30 skipped'])
    expect((await world.verbs.getSchedule(id)).health.healthy).toBe(true)
    await world.pass(hour, 20 * minute)
    const { health } = await world.verbs.getSchedule(id)
    expect(health.healthy).toBe(false)
    expect(health.detail).toMatch(/last 3 ticks were left out.*is still queued/)
  })
  it('waits until it has ended', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add(everyHour, { overlap: 'queue' })
    await world.pass(3 * hour, 20 * minute)
    expect(await world.ticks(id)).toEqual(['2030-05-01T13:30 running', '2030-05-01T14:30 waiting', '2030-05-01T15:30 waiting'])
    expect(await world.open(id)).toHaveLength(1)
    await world.end(id)
    await world.ticker.look()
    expect(await world.ticks(id)).toEqual(['2030-05-01T13:30 succeeded', '2030-05-01T14:30 running', '2030-05-01T15:30 waiting'])
    expect(await world.open(id)).toHaveLength(1)
  })
  it('stops it, which counts as a failure of that one', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add(everyHour, { overlap: 'cancel' })
    await world.pass(2 * hour, 20 * minute)
    expect(await world.ticks(id)).toEqual(['2030-05-01T13:30 failed', '2030-05-01T14:30 running'])
    expect((await world.verbs.getSchedule(id)).health).toMatchObject({
      healthy: false,
      detail: 'It had not ended when the next was due.',
    })
    expect(await world.open(id)).toHaveLength(1)
  })
  it('does not wait for work that only a person has to look at', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add(everyHour)
    await world.pass(hour, 20 * minute)
    await sql`update pawl.tasks set state = 'review' where schedule_id = ${id}`.execute(world.db)
    await world.pass(hour, 20 * minute)
    expect(await world.tasksOf(id)).toHaveLength(2)
  })
})

describe('a conversation', () => {
  it('is a new one each time, or goes on', async () => {
    setClock('2030-05-01T12:30:00Z')
    const apart = await world.add(everyHour)
    const kept = await world.add(everyHour, { session: 'keep' })
    for (let hours = 0; hours < 3; hours++) {
      await world.pass(hour, hour)
      await world.end(apart.id)
      await world.end(kept.id)
    }
    expect(new Set((await world.tasksOf(apart.id)).map(({ session_id }) => session_id)).size).toBe(3)
    const sessions = new Set((await world.tasksOf(kept.id)).map(({ session_id }) => session_id))
    expect(sessions.size).toBe(1)
    expect([...sessions]).toEqual([(await world.verbs.getSchedule(kept.id)).sessionId])
  })
})

describe('a time of rest', () => {
  const idle: When = { kind: 'idle', idleMs: 30 * minute, of: 'agent' }
  it('is counted from the end of the last task, and begins anew with each', async () => {
    setClock('2030-05-01T12:00:00Z')
    const resting = await world.add(idle, { task: { prompt: 'look around', agent: 'resting' } })
    await world.pass(29 * minute, minute)
    expect(await world.tasksOf(resting.id)).toHaveLength(0)
    await world.pass(minute, minute)
    expect(await world.ticks(resting.id)).toEqual(['2030-05-01T12:30 running'])
    // While it runs there is no rest, however long it takes.
    await world.pass(3 * hour, 10 * minute)
    expect(await world.tasksOf(resting.id)).toHaveLength(1)
    await world.end(resting.id)
    await world.pass(29 * minute, minute)
    expect(await world.tasksOf(resting.id)).toHaveLength(1)
    await world.pass(2 * minute, minute)
    expect(await world.ticks(resting.id)).toEqual(['2030-05-01T12:30 succeeded', '2030-05-01T16:00 running'])
  })
  it('is none while the agent has something else to do', async () => {
    setClock('2030-05-01T12:00:00Z')
    const busy = await world.add(everyHour, { task: { prompt: 'other work', agent: 'shared' } })
    const resting = await world.add(idle, { task: { prompt: 'look around', agent: 'shared' } })
    await world.pass(29 * minute, minute)
    await world.verbs.runSchedule(busy.id, { by: 'test' })
    await world.pass(2 * hour, 10 * minute)
    expect(await world.tasksOf(resting.id)).toHaveLength(0)
    await world.end(busy.id)
    await world.verbs.pauseSchedule(busy.id, { by: 'test' })
    await world.pass(31 * minute, minute)
    expect(await world.tasksOf(resting.id)).toHaveLength(1)
  })
  it('is not tried without pause when the task cannot be made', async () => {
    setClock('2030-05-01T12:00:00Z')
    const { id } = await world.add(idle, { task: { prompt: 'look around', agent: 'broken' } })
    world.refusal = denied('The agent is not there.')
    await world.pass(2 * hour, 5 * minute)
    expect(await world.ticks(id)).toHaveLength(4)
    expect((await world.verbs.getSchedule(id)).health).toMatchObject({ failedInARow: 4, detail: 'The agent is not there.' })
  })
})

describe('what goes wrong', () => {
  it.each([
    [
      'failed',
      { outcome: 'failed', category: 'exit_code', message: 'No conversation found with session ID 1234', text: '' },
      /No conversation found with session ID 1234/,
    ],
    ['empty', { outcome: 'empty', text: '' }, /said nothing/],
    ['failed', { outcome: 'partial', text: 'some' }, /only a part/],
    [
      'failed',
      { outcome: 'timed_out', category: 'total_timeout', message: 'It took longer than a minute.', text: '' },
      /Timed out: It took longer/,
    ],
    [
      'failed',
      { outcome: 'over_budget', category: 'budget_exceeded', message: 'It cost more than 5 USD.', text: '' },
      /Over budget: It cost more/,
    ],
  ] as const)(
    'a tick whose task ended as %s %j is told at the first sight, and stored with the end',
    async (state, ended, detail) => {
      setClock('2030-05-01T12:30:00Z')
      const { id } = await world.add(everyHour)
      await world.pass(hour, hour)
      await world.end(id, ended)
      const [summary] = await world.verbs.listSchedules()
      expect(summary?.lastTick?.state).toBe(state)
      expect(summary?.health).toMatchObject({ healthy: false, failedInARow: 1 })
      expect(summary?.health.detail).toMatch(detail)
      await world.pass(hour, hour)
      await world.end(id, ended)
      expect((await world.verbs.listSchedules())[0]?.health.failedInARow).toBe(2)
      await world.pass(hour, hour)
      await world.end(id)
      expect((await world.verbs.listSchedules())[0]?.health).toEqual({ healthy: true, failedInARow: 0, detail: null })
    },
  )

  it('a task that could not even be made is a failed tick', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add(everyHour)
    world.refusal = denied('Agent "helper" cannot run here: it is not installed.')
    await world.pass(hour, hour)
    expect(await world.ticks(id)).toEqual(['2030-05-01T13:30 failed'])
    expect((await world.verbs.getSchedule(id)).health.detail).toMatch(/not installed/)
  })

  it('what cannot be taken for the moment is tried again, for ten minutes', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add(everyHour)
    world.refusal = unavailable('The disk is full.')
    await world.pass(hour + 9 * minute, minute)
    expect(await world.ticks(id)).toEqual(['2030-05-01T13:30 waiting'])
    world.refusal = undefined
    await world.ticker.look()
    expect(await world.ticks(id)).toEqual(['2030-05-01T13:30 running'])
    await world.end(id)
    world.refusal = unavailable('The disk is full.')
    await world.pass(hour + 5 * minute, minute)
    expect((await world.ticks(id)).at(-1)).toBe('2030-05-01T14:30 failed')
  })

  it('a person who cancels a task makes no failure of it', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add(everyHour)
    await world.pass(hour, hour)
    await world.tasks.cancelTask((await world.open(id))[0]!.id, { by: 'anna', now: false })
    expect(await world.ticks(id)).toEqual(['2030-05-01T13:30 cancelled'])
    expect((await world.verbs.getSchedule(id)).health.healthy).toBe(true)
  })

  it('a user who was removed has nothing done in their name, and the next to edit it takes it over', async () => {
    setClock('2030-05-01T12:30:00Z')
    const made = await world.verbs.createSchedule(
      { when: everyHour, task: { prompt: 'x', agent: 'helper' }, session: 'new', overlap: 'skip', catchUp: 'one', jitterMs: 0 },
      { by: 'bert', user: 'bert', standing: 'operator' },
    )
    await world.pass(hour, hour)
    expect((await world.verbs.getSchedule(made.id)).health.detail).toMatch(/user "bert".*was removed/)
    await world.verbs.changeSchedule(made.id, { task: { prompt: 'y' } }, { by: 'test' })
    await world.pass(hour, hour)
    expect((await world.verbs.getSchedule(made.id)).lastTick?.state).toBe('running')
  })

  it('one whose zone is not known any more is paused and told, and the others go on', async () => {
    setClock('2030-05-01T12:30:00Z')
    const broken = await world.add(daily)
    const other = await world.add({ kind: 'cron', expression: '0 8 * * *', timeZone: 'UTC' })
    await sql`update pawl.schedules set timing = jsonb_set(timing, '{timeZone}', '"Mars/Olympus"') where id = ${broken.id}`.execute(
      world.db,
    )
    await world.pass(day, 2 * hour)
    expect(await world.verbs.listSchedules()).toMatchObject([
      { id: other.id, state: 'active', lastTick: { state: 'running' } },
      { id: broken.id, state: 'paused', health: { healthy: false } },
    ])
  })
})

describe('what a crash leaves', () => {
  it('a tick without its task gets it, once', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add(everyHour)
    const dying = createTicker({
      ...world,
      tasks: {
        ...world.tasks,
        async createTask() {
          throw new Error('the process died here')
        },
      },
    })
    world.clock.advance(hour)
    await dying.look()
    expect(await world.tasksOf(id)).toHaveLength(0)
    await world.makeTicker().look()
    await world.makeTicker().look()
    expect(await world.tasksOf(id)).toHaveLength(1)
    expect(await world.ticks(id)).toEqual(['2030-05-01T13:30 running'])
  })

  it.each(['skip', 'queue', 'cancel'] as const)(
    'a task whose tick does not know it yet is found by its key, also when it has ended meanwhile (%s)',
    async (overlap) => {
      setClock('2030-05-01T12:30:00Z')
      const { id } = await world.add(everyHour, { overlap, session: 'keep' })
      for (const hasEnded of [false, true]) {
        const dying = createTicker({
          ...world,
          tasks: {
            ...world.tasks,
            async createTask(...asked: Parameters<World['tasks']['createTask']>) {
              await world.tasks.createTask(...asked)
              throw new Error('the process died here')
            },
          },
        })
        world.clock.advance(hour)
        await dying.look()
        if (hasEnded) await world.end(id)
        await world.makeTicker().look()
        if (!hasEnded) await world.end(id)
      }
      expect(await world.ticks(id)).toEqual(['2030-05-01T13:30 succeeded', '2030-05-01T14:30 succeeded'])
      expect(await world.tasksOf(id)).toHaveLength(2)
    },
  )
})

describe('verbs', () => {
  it('refuse a second schedule of one name, and answer by name and by id', async () => {
    setClock('2030-05-01T12:30:00Z')
    const made = await world.add(daily, { name: 'morning' })
    await expect(world.add(daily, { name: 'morning' })).rejects.toThrow(/already/)
    const other = await world.add(daily, { name: 'evening' })
    await expect(world.verbs.changeSchedule(other.id, { name: 'morning' }, { by: 'test' })).rejects.toThrow(
      /Another schedule has that name/,
    )
    expect((await world.verbs.getSchedule('morning')).id).toBe(made.id)
    expect((await world.verbs.getSchedule(made.id)).name).toBe('morning')
    await world.verbs.removeSchedule('morning', { by: 'test' })
    await expect(world.verbs.getSchedule('morning')).rejects.toThrow(/no schedule "morning"/)
  })

  it('pause and resume: nothing of the pause is made up for', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add(everyHour, { catchUp: 'all' })
    expect((await world.verbs.pauseSchedule(id, { by: 'test' })).nextAt).toBeNull()
    await world.pass(5 * hour, hour)
    expect(await world.ticks(id)).toEqual([])
    expect((await world.verbs.resumeSchedule(id, { by: 'test' })).nextAt).toBe('2030-05-01T18:30:00.000Z')
  })

  it('pause: nothing more comes of ticks that wait for an earlier task, but of one that was asked for by hand', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add(everyHour, { overlap: 'queue' })
    await world.pass(4 * hour, hour)
    await world.verbs.runSchedule(id, { by: 'test' })
    await world.verbs.pauseSchedule(id, { by: 'test' })
    for (let rounds = 0; rounds < 4; rounds++) {
      await world.end(id)
      await world.pass(minute, minute)
    }
    expect(await world.ticks(id)).toEqual([
      '2030-05-01T13:30 succeeded',
      '2030-05-01T14:30 skipped',
      '2030-05-01T15:30 skipped',
      '2030-05-01T16:30 skipped',
      '2030-05-01T16:30 succeeded',
    ])
    expect(await world.tasksOf(id)).toHaveLength(2)
  })

  it('pause while the task of a tick is being made: that task is cancelled', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add(everyHour)
    const ticker = createTicker({
      ...world,
      tasks: {
        ...world.tasks,
        async createTask(...asked: Parameters<World['tasks']['createTask']>) {
          const made = await world.tasks.createTask(...asked)
          await world.verbs.pauseSchedule(id, { by: 'test' })
          return made
        },
      },
    })
    world.clock.advance(hour)
    await ticker.look()
    expect(await world.open(id)).toEqual([])
    expect(await world.ticks(id)).toEqual(['2030-05-01T13:30 skipped'])
  })

  it('run now: a tick out of turn, refused while the last one goes on', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id, nextAt } = await world.add(daily)
    const ran = await world.verbs.runSchedule(id, { by: 'test' })
    expect(ran.nextAt).toBe(nextAt)
    expect(ran.lastTick).toMatchObject({ state: 'running', manual: true, task: (await world.open(id))[0]?.id })
    await expect(world.verbs.runSchedule(id, { by: 'test' })).rejects.toThrow(/not run now.*still queued/)
  })

  it('change when: planned anew from now', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add({ kind: 'at', at: '2030-05-01T13:00:00Z' })
    await world.pass(hour, hour)
    const changed = await world.verbs.changeSchedule(id, { when: everyHour, task: { agent: 'other' } }, { by: 'test' })
    expect(changed).toMatchObject({ state: 'active', nextAt: '2030-05-01T14:30:00.000Z', agent: 'other', prompt: 'work' })
  })

  it('keep the last hundred ticks', async () => {
    setClock('2030-05-01T12:30:00Z')
    const { id } = await world.add({ kind: 'every', everyMs: minute })
    await world.pass(130 * minute, minute)
    const { ticks } = await world.verbs.getSchedule(id)
    expect(ticks).toHaveLength(100)
    const { rows } = await sql<{
      count: number
    }>`select count(*) as count from pawl.schedule_ticks where schedule_id = ${id}`.execute(world.db)
    // And the one whose task still goes on.
    expect(rows[0]?.count).toBe(101)
  })
})

describe('schedules of the settings', () => {
  const source = '/home/pawl.yaml'
  const entry = (name: string, prompt: string) => ({
    ...{
      name,
      when: everyHour,
      task: { prompt, agent: 'helper' },
      session: 'keep',
      overlap: 'skip',
      catchUp: 'one',
      jitterMs: 0,
    },
  })
  const refused = rememberRefused()
  const take = (...wanted: ReturnType<typeof entry>[]) =>
    takeFromSettings({ ...world, source, refused, wanted: wanted as Parameters<typeof takeFromSettings>[0]['wanted'] })
  const shown = async () =>
    (await world.verbs.listSchedules()).map(({ name, prompt, state }) => `${name} ${prompt} ${state}`).sort()

  it('are made, changed and removed with them; the history, the rhythm and a pause stay', async () => {
    setClock('2030-05-01T12:30:00Z')
    await world.add(daily, { name: 'own' })
    await take(entry('a', 'one'), entry('b', 'two'))
    expect(await shown()).toEqual(['a one active', 'b two active', 'own work active'])
    await world.pass(hour, hour)
    await world.verbs.pauseSchedule('b', { by: 'test' })
    const before = await world.verbs.getSchedule('a')
    world.clock.advance(minute)
    await take(entry('a', 'one, and more'), entry('b', 'two'))
    expect(await shown()).toEqual(['a one, and more active', 'b two paused', 'own work active'])
    const after = await world.verbs.getSchedule('a')
    expect([after.nextAt, after.ticks, after.sessionId]).toEqual([before.nextAt, before.ticks, before.sessionId])
    await take(entry('b', 'two'))
    expect(await shown()).toEqual(['b two paused', 'own work active'])
  })

  it('nothing is written when nothing has changed', async () => {
    setClock('2030-05-01T12:30:00Z')
    const resting = { ...entry('rest', 'x'), when: { kind: 'idle', idleMs: hour, of: 'agent' }, task: { prompt: 'x' } } as never
    await take(entry('a', 'one'), resting)
    const before = await world.verbs.listSchedules()
    world.clock.advance(minute)
    await take(entry('a', 'one'), resting)
    expect(await world.verbs.listSchedules()).toEqual(before)
  })

  it('are told of while they cannot be had, and no longer', async () => {
    setClock('2030-05-01T12:30:00Z')
    await world.add(daily, { name: 'mine' })
    await take(entry('mine', 'taken'), entry('a', 'one'))
    expect(refused.list()).toEqual([{ name: 'mine', source, detail: expect.stringContaining('mine') }])
    await take(entry('a', 'one'))
    expect(refused.list()).toEqual([])
  })

  it('are changed nowhere else, and leave the names of others alone', async () => {
    setClock('2030-05-01T12:30:00Z')
    await world.add(daily, { name: 'mine' })
    await take(entry('mine', 'taken'), entry('a', 'one'))
    expect(await shown()).toEqual(['a one active', 'mine work active'])
    await expect(world.verbs.changeSchedule('a', { overlap: 'queue' }, { by: 'test' })).rejects.toThrow(
      /comes from \/home\/pawl\.yaml; change it there/,
    )
  })
})
