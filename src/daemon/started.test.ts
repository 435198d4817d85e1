import { expect, test } from 'vitest'
import { createLog } from '../base/log.ts'
import { createStarted } from './started.ts'

const quick = { withinMs: 100, lastMs: 50 }
const never = () => new Promise<never>(() => undefined)

function withLog() {
  const lines: string[] = []
  const log = createLog({ level: 'error', format: 'json', now: Date.now, write: (line) => void lines.push(line) })
  return { started: createStarted(log, quick), lines }
}

test('parts are stopped one after another, the last first, and one that fails does not keep the others from it', async () => {
  const { started, lines } = withLog()
  const stopped: string[] = []
  for (const name of ['store', 'journal', 'worker'])
    started.add(async () => {
      await new Promise(setImmediate)
      stopped.push(name)
      if (name === 'journal') throw new Error('not me')
    })
  await Promise.all([started.stop(), started.stop()])
  expect(stopped).toEqual(['worker', 'journal', 'store'])
  expect(lines.join()).toContain('not me')
})

test('a part that hangs is left behind, and all the others are stopped', async () => {
  const { started, lines } = withLog()
  const stopped: string[] = []
  started.add(async () => stopped.push('store'))
  started.add(never)
  started.add(never)
  started.add(async () => stopped.push('http'))
  const began = performance.now()
  await started.stop()
  expect(performance.now() - began).toBeLessThan(5_000)
  expect(stopped).toEqual(['http', 'store'])
  expect(lines.join()).toContain('stop_overdue')
})

test('what waits for a part that is stopped later, as statements wait for their connections, is heard', async () => {
  const { started, lines } = withLog()
  const broken = Promise.withResolvers<void>()
  started.add(async () => broken.resolve())
  started.add(() => broken.promise)
  await started.stop()
  expect(lines).toHaveLength(1)
})
