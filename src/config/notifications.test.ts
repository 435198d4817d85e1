import { join } from 'node:path'
import { expect, test } from 'vitest'
import { usualEvents } from '../domain/notification/notification.ts'
import { showConfig } from './show.ts'
import { Machine } from './testing.ts'

const written = `notifications:
  ops:
    webhook: { url: "https://hooks.example.com/T0/very-secret-path", secret: { name: OPS_HOOK } }
    events: [task.failed, task.blocked]
    agents: [demo]
    tags: [nightly]
  bell:
    command: { run: [notify-send, Pawl, "A task needs you"], timeout: 10s }
  pull-request:
    onDone: { run: [./open-pr, --draft], env: [GH_HOST] }
    attempts: 1
`

test('whom to tell is read with every default in place', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, written)
  expect((await machine.load()).notifications).toEqual([
    {
      name: 'ops',
      events: ['task.failed', 'task.blocked'],
      agents: ['demo'],
      tags: ['nightly'],
      attempts: 15,
      way: {
        kind: 'webhook',
        url: 'https://hooks.example.com/T0/very-secret-path',
        secret: { name: 'OPS_HOOK' },
        allowPrivate: false,
      },
    },
    {
      name: 'bell',
      events: usualEvents,
      attempts: 3,
      way: {
        kind: 'command',
        run: ['notify-send', 'Pawl', 'A task needs you'],
        diff: false,
        timeoutMs: 10_000,
        env: { pass: [], set: {} },
      },
    },
    {
      name: 'pull-request',
      events: ['task.completed'],
      attempts: 1,
      way: {
        kind: 'command',
        run: [join(machine.home, 'open-pr'), '--draft'],
        diff: true,
        timeoutMs: 300_000,
        env: { pass: ['GH_HOST'], set: {} },
      },
    },
  ])
})

test('the address of a receiver is shown by its host alone', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, written)
  const rows = showConfig(await machine.load())
  expect(JSON.stringify(rows)).not.toContain('very-secret-path')
  const values = Object.fromEntries(rows.map(({ path, value }) => [path, value]))
  expect(values).toMatchObject({
    'notifications.ops.webhook.url': 'https://hooks.example.com/***',
    'notifications.ops.webhook.secret.name': 'OPS_HOOK',
    'notifications.pull-request.onDone.timeout': '5m',
  })
})

test('a project that is not trusted tells nobody and runs nothing', async () => {
  using machine = new Machine()
  machine.write(machine.projectFile, written)
  const config = await machine.load()
  expect(config.notifications).toEqual([])
  expect(config.untrusted?.keys).toEqual(['notifications.ops', 'notifications.bell', 'notifications.pull-request'])
  expect((await machine.load({ flags: { trust: true } })).notifications.map(({ name }) => name)).toEqual([
    'ops',
    'bell',
    'pull-request',
  ])
})

test.each([
  ['{ webhook: { url: "http://hooks.example.com/", secret: { env: A } } }', /url .*must be an https URL/],
  ['{ webhook: { url: "https://user:pass@hooks.example.com/", secret: { env: A } } }', /without a user name/],
  ['{ webhook: { url: "https://hooks.example.com/", secret: whsec_abc } }', /must name where the secret is kept/],
  ['{ webhook: { url: "https://hooks.example.com/" } }', /secret/],
  ['{ command: { run: notify-send } }', /run/],
  ['{ events: [task.failed] }', /exactly one of webhook, command, onDone/],
  ['{ command: { run: [a] }, onDone: { run: [a] } }', /exactly one of/],
  ['{ onDone: { run: [a] }, events: [task.failed] }', /must be task.completed or task.review/],
  ['{ on_done: { run: [a] } }', /on_done.*onDone/],
  ['{ command: { run: [a] }, events: [task.faild] }', /must be events among/],
  ['{ command: { run: [a] }, agents: [nobody] }', /names an agent "nobody"/],
])('%s is refused in a sentence', async (entry, sentence) => {
  using machine = new Machine()
  machine.write(machine.homeFile, `notifications:\n  a: ${entry}\n`)
  expect(await machine.refusal()).toMatch(sentence)
})
