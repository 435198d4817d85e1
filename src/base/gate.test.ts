import { expect, test } from 'vitest'
import { createGate } from './gate.ts'

test('no more than the width are inside at once, and everybody gets through in order', async () => {
  const gate = createGate(2)
  const order: number[] = []
  let inside = 0
  let most = 0
  await Promise.all(
    [0, 1, 2, 3, 4].map((n) =>
      gate(async () => {
        most = Math.max(most, ++inside)
        await new Promise((done) => setImmediate(done))
        order.push(n)
        inside--
      }),
    ),
  )
  expect({ most, order }).toEqual({ most: 2, order: [0, 1, 2, 3, 4] })
})

test('work that fails leaves its place to the next', async () => {
  const gate = createGate(1)
  const broken = gate(async () => {
    throw new Error('broken')
  })
  const next = gate(async () => 'through')
  await expect(broken).rejects.toThrow('broken')
  expect(await next).toBe('through')
})
