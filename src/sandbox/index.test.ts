import { expect, test } from 'vitest'
import { createBubblewrap } from './bubblewrap/sandbox.ts'
import { chooseSandbox, sandboxes } from './index.ts'
import { createNone } from './none/sandbox.ts'

test('the best walls that can be built are chosen', async () => {
  const { sandbox, health } = await chooseSandbox()
  expect([sandbox.name, health.enforced]).toEqual(['bubblewrap', true])
})

test('without bubblewrap there are no walls, and the reason and the fix are told', async () => {
  const { sandbox, health } = await chooseSandbox({ from: [createBubblewrap({ searchPath: '/nowhere' }), createNone()] })
  expect(sandbox.name).toBe('none')
  expect(health).toMatchObject({ available: true, enforced: false, fix: 'apt-get install bubblewrap' })
})

test('walls asked for by name are given or refused, never replaced', async () => {
  expect((await chooseSandbox({ wanted: 'none' })).sandbox).toBe(sandboxes[1])
  await expect(chooseSandbox({ wanted: 'moat' })).rejects.toThrow(/no sandbox "moat"; known are bubblewrap, none/)
  await expect(chooseSandbox({ wanted: 'bubblewrap', from: [createBubblewrap({ searchPath: '/nowhere' })] })).rejects.toThrow(
    /apt-get install/,
  )
})
