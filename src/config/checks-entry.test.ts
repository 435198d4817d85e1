import { expect, test } from 'vitest'
import { findAgent } from './load.ts'
import { showConfig } from './show.ts'
import { Machine } from './testing.ts'

const agents = 'agents:\n  a: { adapter: custom, command: [a] }\n'

test('checks may be a list of commands or say more, and an agent has its own, those of all, or none', async () => {
  using machine = new Machine()
  machine.write(
    machine.homeFile,
    `checks: [npm test]
agents:
  a: { adapter: custom, command: [a] }
  b: { adapter: custom, command: [b], checks: { commands: [{ run: make check, name: all, timeout: 2m }], attempts: 3, home: session } }
  c: { adapter: custom, command: [c], checks: [] }
`,
  )
  const config = await machine.load()
  const checks = (name: string) => findAgent(config, name).checks
  expect(checks('a')).toEqual({ commands: [{ run: 'npm test' }], attempts: 0 })
  expect(checks('b')).toEqual({
    commands: [{ run: 'make check', name: 'all', timeoutMs: 120_000 }],
    attempts: 3,
    home: 'session',
  })
  expect(checks('c')).toBeUndefined()
  const shown = showConfig(config).filter(({ path }) => path.startsWith('agents.b.checks'))
  expect(JSON.stringify(shown)).toContain('2m')
})

test("a repository's own checks run something, so they count only when its file is trusted", async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, agents)
  machine.write(machine.projectFile, 'checks: [./evil]\nagents:\n  a: { checks: [./evil] }\n')
  const config = await machine.load()
  expect(findAgent(config, 'a').checks).toBeUndefined()
  expect(JSON.stringify(config.untrusted?.values)).toContain('./evil')
  expect(config.untrusted?.keys).toEqual(expect.arrayContaining(['checks', 'agents.a.checks']))
})

test('what is no check is refused where it stands', async () => {
  using machine = new Machine()
  for (const written of ['checks: npm test', 'checks: [{ name: x }]', 'checks: { commands: [a], attempts: 99 }']) {
    machine.write(machine.homeFile, `${written}\n`)
    await expect(machine.load(), written).rejects.toThrow('checks')
  }
})
