import { expect, test } from 'vitest'
import type { TaskSummary } from '../../domain/view/view.ts'
import type { TaskFilter } from '../../operations/runtime.ts'
import { findTask } from './find-task.ts'

const ids = Array.from({ length: 250 }, (_, i) => `t_000000000${String(i).padStart(3, '0')}aaaaaa`).concat('t_00000000000000bcde')

const runtime = {
  async listTasks({ limit, cursor }: TaskFilter) {
    const from = Number(cursor ?? 0)
    const items = ids
      .slice(from, from + limit)
      .map((id) => ({ id, state: 'queued', prompt: 'p', createdAt: '2026-01-01T00:00:00.000Z' }) as TaskSummary)
    return { items, next: from + limit < ids.length ? String(from + limit) : null }
  },
}

test('a task is named by its id, a unique end or beginning of it, or "last"', async () => {
  expect(await findTask(runtime, ids[3]!)).toBe(ids[3])
  expect(await findTask(runtime, 'last')).toBe(ids[0])
  expect(await findTask(runtime, 'bcde')).toBe('t_00000000000000bcde')
  expect(await findTask(runtime, '007aaaaaa')).toBe(ids[7])
  expect(await findTask(runtime, 't_000000000007')).toBe(ids[7])
  expect(await findTask(runtime, '000000000123a')).toBe(ids[123])
})

test('"last" is what somebody asked for, whatever its agent has made of it since', async () => {
  const items = (await runtime.listTasks({ limit: 3 })).items.map((task, i) => ({ ...task, parent: i < 2 ? ids[2]! : null }))
  const listTasks = async ({ limit, cursor }: TaskFilter) => {
    const from = Number(cursor ?? 0)
    return { items: items.slice(from, from + limit), next: from + limit < items.length ? String(from + limit) : null }
  }
  expect(await findTask({ listTasks }, 'last')).toBe(ids[2])
})

test('an end that fits several is refused with the candidates', async () => {
  const error = await findTask(
    { listTasks: async () => ({ items: (await runtime.listTasks({ limit: 2 })).items, next: null }) },
    'aaaa',
  ).catch((e) => e)
  expect(error.code).toBe('invalid')
  expect(error.message.split('\n')).toEqual([
    '"aaaa" fits 2 tasks; which one?',
    expect.stringContaining(ids[0]!),
    expect.stringContaining(ids[1]!),
  ])
})

test.each([
  ['zzzz', 'not_found'],
  ['abc', 'invalid'],
  ['../../etc', 'invalid'],
  ['--json', 'invalid'],
])('%s is refused as %s', async (named, code) => {
  await expect(findTask(runtime, named)).rejects.toMatchObject({ code })
})

test('"last" without any task says how to start one', async () => {
  await expect(findTask({ listTasks: async () => ({ items: [], next: null }) }, 'last')).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no task yet; start one with: pawl run "…"',
  })
})
