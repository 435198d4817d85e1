import { join } from 'node:path'
import { expect, test } from 'vitest'
import { showConfig } from './show.ts'
import { Machine } from './testing.ts'

const nightly = `schedules:
  nightly: { when: "@daily", tz: Asia/Kathmandu, prompt: tidy up, agent: demo, workspace: ./src, overlap: queue, jitter: 10m }
`

test('schedules of the settings are whole, with paths as seen from their file', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, nightly)
  const config = await machine.load()
  expect(config.schedules).toEqual([
    {
      name: 'nightly',
      when: { kind: 'cron', expression: '@daily', timeZone: 'Asia/Kathmandu' },
      task: { prompt: 'tidy up', agent: 'demo', workspace: join(machine.homeFile, '..', 'src') },
      session: 'new',
      overlap: 'queue',
      catchUp: 'one',
      jitterMs: 600_000,
    },
  ])
  const rows = showConfig(config).filter((row) => JSON.stringify(row).includes('nightly'))
  expect(rows.length).toBeGreaterThan(0)
})

test('a project that is not trusted schedules nothing', async () => {
  using machine = new Machine()
  machine.write(machine.projectFile, nightly)
  const config = await machine.load()
  expect(config.schedules).toEqual([])
  expect(config.untrusted?.keys).toEqual(['schedules.nightly'])
})

test('what never comes, and an agent that is not there, are refused with their place', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, 'schedules:\n  never: { when: "0 0 30 2 *", prompt: x }\n')
  await expect(machine.load()).rejects.toThrow(/schedules\.never\.when.*must name times that come.*never comes/)
  machine.write(machine.homeFile, 'schedules:\n  lost: { when: every 2h, prompt: x, agent: nobody }\n')
  await expect(machine.load()).rejects.toThrow(/schedules\.lost\.agent.*nobody/)
})
