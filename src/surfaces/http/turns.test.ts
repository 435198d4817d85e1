import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Turns } from './turns.ts'

test('turns are taken in order, a few at a time, and others come between', async () => {
  const turns = new Turns()
  const order: (number | string)[] = []
  const all = Array.from({ length: 20 }, (_, index) => turns.take().then(() => void order.push(index)))
  setImmediate(() => order.push('somebody else'))
  await Promise.all(all)
  expect(order.filter((one) => typeof one === 'number')).toEqual(Array.from({ length: 20 }, (_, index) => index))
  expect(order.indexOf('somebody else')).toBeLessThan(19)
})

test('one that works on and on keeps nobody from being served', async () => {
  const turns = new Turns()
  let isOver = false
  let steps = 0
  const work = async () => {
    while (!isOver) {
      await turns.take()
      steps++
    }
  }
  const working = Promise.all(Array.from({ length: 100 }, work))
  await sleep(5)
  isOver = true
  await working
  expect(steps).toBeGreaterThan(100)
})
