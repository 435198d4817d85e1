import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createShare } from './fair-share.ts'

const spin = (ms: number) => {
  for (const until = performance.now() + ms; performance.now() < until; );
}

test('one that says little is never kept waiting', async () => {
  const share = createShare()
  for (let times = 0; times < 3; times++) {
    expect(share()).toBeUndefined()
    expect(share()).toBeUndefined()
    await turn()
  }
})

test('one that keeps the thread busy waits for what was due before', async () => {
  const share = createShare()
  const order: string[] = []
  share()
  spin(6)
  setImmediate(() => order.push('something else'))
  await share()
  order.push('the agent')
  expect(order).toEqual(['something else', 'the agent'])
})

test('those that flood have the thread by turns, one in each turn of the event loop', async () => {
  let turns = 0
  let isOver = false
  const counting = async () => {
    for (; !isOver; turns++) await turn()
  }
  const done: string[] = []
  const flood = async (name: string) => {
    const share = createShare()
    const seen: number[] = []
    for (let lines = 0; lines < 20; lines++) {
      spin(3)
      await share()
      seen.push(turns)
      done.push(name)
    }
    return seen
  }
  const counted = counting()
  await Promise.all(['a', 'b', 'c'].map(flood))
  isOver = true
  await counted
  // 60 lines of 3 ms, of which two or three fill a share.
  expect(turns).toBeGreaterThan(15)
  // Nobody was through before another had half of its own done.
  for (const name of ['a', 'b', 'c'])
    expect(done.slice(0, done.lastIndexOf(name)).filter((other) => other !== name).length).toBeGreaterThan(15)
})
