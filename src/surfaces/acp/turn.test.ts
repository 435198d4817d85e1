import { expect, test } from 'vitest'
import { fakeRuntime } from '../../../test/fake-runtime.ts'
import type { Editor } from './editor.ts'
import type { AcpHome } from './home.ts'
import { createTeller } from './teller.ts'
import { startTurn } from './turn.ts'

async function going() {
  const runtime = fakeRuntime()
  const { task } = await runtime.createTask({ prompt: 'x' }, { by: 'test' })
  const home = {
    use: (ask) => ask(runtime),
    async *follow(id, options) {
      for await (const batch of runtime.followEvents(id, options)) yield* batch
    },
  } as Pick<AcpHome, 'use' | 'follow'> as AcpHome
  const editor = { update: () => undefined, settled: async () => undefined } as Partial<Editor> as Editor
  const takeUp = (after: number) => {
    const teller = createTeller({ task: task.id, folder: '/ws', shows: { notices: false }, send: () => undefined })
    return startTurn({ home, editor, session: task.session, folder: '/ws', task: task.id, teller, after })
  }
  runtime.emit(task.id, { type: 'agent.message', data: { text: 'said' } })
  const told = (await runtime.readEvents(task.id, { after: 0, limit: 100 })).at(-1)!.seq
  const end = () => {
    runtime.setState(task.id, 'completed')
    return runtime.emit(task.id, { type: 'task.completed', data: { verified: false } }).at(-1)!.seq
  }
  return { runtime, home, takeUp, told, end }
}

test('a task that is taken up ends its turn when it ends, also if its end was told before', async () => {
  const before = await going()
  const early = before.takeUp(before.end())
  expect(await early.done).toMatchObject({ stopReason: 'end_turn' })

  const meanwhile = await going()
  meanwhile.end()
  expect(await meanwhile.takeUp(meanwhile.told).done).toMatchObject({ stopReason: 'end_turn' })

  const later = await going()
  const turn = later.takeUp(later.told)
  await expect.poll(() => later.runtime.followers()).toBe(1)
  later.end()
  expect(await turn.done).toMatchObject({ stopReason: 'end_turn' })
})

test('whoever leaves does not wait for a daemon that is away', async () => {
  const { takeUp, told, home } = await going()
  home.follow = async function* () {
    yield* await new Promise<never[]>(() => undefined)
  }
  const turn = takeUp(told)
  turn.leave()
  expect(await turn.done).toMatchObject({ stopReason: 'cancelled' })
})
