import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PawlError } from '../domain/error.ts'
import { Machine } from './testing.ts'

async function refusalOf(yaml: string | Uint8Array): Promise<string> {
  using machine = new Machine()
  machine.write(machine.projectFile, yaml)
  return await machine.refusal()
}

test.for([
  ['an unknown key', 'agent:\n  x: 1\n', 'Unknown key "agent" in pawl.yaml:1:1; did you mean "agents"?'],
  [
    'an unknown key of an agent',
    'agents:\n  helper:\n    adapter: custom\n    command: [x]\n    modle: big\n',
    'Unknown key "modle" at agents.helper in pawl.yaml:5:5; did you mean "model"?',
  ],
  [
    'an unknown key that is near to an option of the adapter',
    'agents:\n  helper: { adapter: custom, comand: [x], command: [x] }\n',
    'Unknown key "comand" at agents.helper in pawl.yaml:2:30; did you mean "command"?',
  ],
  [
    'an unknown option',
    'agents:\n  helper: { adapter: custom, command: [x], options: { outptu: text } }\n',
    'Unknown key "outptu" at agents.helper.options in pawl.yaml:2:55; did you mean "output"?',
  ],
  [
    'an unknown key inside an option',
    'agents:\n  helper: { adapter: custom, command: [x], map: { txt: a } }\n',
    'Unknown key "txt" at agents.helper.map in pawl.yaml:2:51; did you mean "text"?',
  ],
  [
    'an unknown key near to nothing',
    'limits: { banana: 1 }\n',
    'Unknown key "banana" at limits in pawl.yaml:1:11; the known ones are running, perAgent, maxQueued, warm, usageWindows.',
  ],
  [
    'an unknown adapter',
    'agents:\n  helper: { adapter: custm }\n',
    'agents.helper.adapter in pawl.yaml:2:13: there is no adapter "custm" (there are custom, demo); did you mean "custom"?',
  ],
  [
    'an agent without adapter',
    'agents:\n  helper: { model: x }\n',
    'agents.helper in pawl.yaml:2:3 needs an "adapter": one of custom, demo.',
  ],
  [
    'a missing option',
    'agents:\n  helper: { adapter: custom }\n',
    'agents.helper.command in pawl.yaml:2:3 is missing; it must be a list.',
  ],
  ['a wrong type', 'limits:\n  running: many\n', 'limits.running in pawl.yaml:2:3 must be a whole number of at least 1.'],
  ['a list for a map', 'agents: [a]\n', 'agents in pawl.yaml:1:1 must be a map of keys and values.'],
  ['a whole file that is a text', 'hello\n', 'The file in pawl.yaml:1:1 must be a map of keys and values.'],
  [
    'a wrong item of an option',
    'agents:\n  helper: { adapter: custom, command: [x, 7] }\n',
    'agents.helper.command[1] in pawl.yaml:2:43 must be a text.',
  ],
  [
    'a wrong choice',
    'agents:\n  helper: { adapter: custom, command: [x], prompt: mail }\n',
    'agents.helper.prompt in pawl.yaml:2:44 must be one of stdin, file, flag, arg.',
  ],
  [
    'a wrong profile',
    'agents:\n  demo: { profile: loose }\n',
    'agents.demo.profile in pawl.yaml:2:11 names a profile "loose", which does not exist.',
  ],
  [
    'a wrong duration',
    'timeouts: { total: soon }\n',
    'timeouts.total in pawl.yaml:1:13 must be a duration such as 500ms, 10s, 30m, 2h or 1d (a bare number means seconds).',
  ],
  [
    'money below zero',
    'agents:\n  demo: { budget: { usd: -1 } }\n',
    'agents.demo.budget.usd in pawl.yaml:2:21 must be at least 0.',
  ],
  [
    'a built-in profile that is to be changed',
    'profiles: { guarded: {} }\n',
    'profiles.guarded in pawl.yaml:1:13 cannot be changed: it is built in; choose another name for your profile and let it extend this one.',
  ],
  [
    'an unknown key of a profile',
    'profiles:\n  mine: { netwrok: {} }\n',
    'Unknown key "netwrok" at profiles.mine in pawl.yaml:2:11; did you mean "network"?',
  ],
  [
    'an unknown key deep in a profile',
    'profiles:\n  mine: { rules: { alow: [Read] } }\n',
    'Unknown key "alow" at profiles.mine.rules in pawl.yaml:2:20; did you mean "allow"?',
  ],
  [
    'a profile on top of one that is not there',
    'profiles:\n  mine: { extends: gaurded }\n',
    'profiles.mine in pawl.yaml:2:3: Profile "mine" extends "gaurded", which does not exist; did you mean "guarded"? Profiles are: strict, guarded, trusted-repo, unattended-open, mine.',
  ],
  [
    'a rule that names no tool',
    'profiles:\n  mine: { rules: { deny: [Bahs] } }\n',
    'profiles.mine.rules.deny[0] in pawl.yaml:2:27 cannot name a tool "Bahs" (did you mean "Bash"?).',
  ],
  [
    'a host with a scheme',
    'profiles:\n  mine: { network: { allow: ["https://a.b/c"] } }\n',
    /^profiles\.mine\.network\.allow\[0\] in pawl\.yaml:2:30 cannot be used: .* is no network rule; .*\.$/,
  ],
  [
    'a size that is none',
    'profiles:\n  mine: { limits: { memory: much } }\n',
    'profiles.mine.limits.memory in pawl.yaml:2:21 must be a size such as 512m, 4g or 1.5g (a bare number means megabytes).',
  ],
  [
    'walls that are taken down',
    'profiles:\n  mine: { walls: false }\n',
    'profiles.mine in pawl.yaml:2:3: Profile "mine" cannot take the walls down: only one that extends unattended-open has none.',
  ],
  [
    'a mount of the whole machine',
    'profiles:\n  mine: { mounts: [/] }\n',
    'profiles.mine.mounts[0] in pawl.yaml:2:20 cannot be the whole machine; name what the agent needs.',
  ],
  [
    'a mount without a place',
    'profiles:\n  mine: { mounts: [{ mode: ro }] }\n',
    'profiles.mine.mounts[0] in pawl.yaml:2:20 must be written /path, /path:ro, /path:rw, or as a map with a path or a source.',
  ],
  ['a variable of ours in every run', 'env: [PAWL_X]\n', /^env in pawl\.yaml:1:1 must be .*PAWL_\.$/],
  [
    'a key in clear',
    'providers: { a: { kind: ollama, key: sk-123 } }\n',
    'providers.a.key in pawl.yaml:1:33 must name where the key is kept, as { env: NAME }, { file: path } or { secret: NAME }; the key itself does not belong in this file.',
  ],
  [
    'a key in clear in place of the name of a variable',
    'providers: { a: { kind: ollama, key: { env: sk-123 } } }\n',
    'providers.a.key.env in pawl.yaml:1:40 must be the name of an environment variable, in capitals; the key itself does not belong in this file.',
  ],
  [
    'a variable that is ours',
    'agents:\n  demo: { env: { PAWL_X: a } }\n',
    /^agents\.demo\.env in pawl\.yaml:2:11 must be .*PAWL_\.$/,
  ],
  [
    'a name that JavaScript uses itself',
    'agents: { constructor: { adapter: demo } }\n',
    'agents.constructor in pawl.yaml:1:11 must have a name that JavaScript does not use itself.',
  ],
  [
    'an option said twice',
    'agents:\n  helper: { adapter: custom, command: [x], options: { command: [y] } }\n',
    'agents.helper.command in pawl.yaml:2:30 is set twice, here and under "options"; keep one of them.',
  ],
  [
    'an unknown default agent',
    'defaultAgent: dmo\n',
    'defaultAgent in pawl.yaml:1:1 names an agent "dmo", which does not exist; did you mean "demo"?',
  ],
  [
    'a limit for an unknown agent',
    'limits: { perAgent: { dmo: 1 } }\n',
    'limits.perAgent.dmo in pawl.yaml:1:23 names an agent "dmo", which does not exist; did you mean "demo"?',
  ],
  [
    'a model of an unknown provider',
    'models: { "qwen3:8b": { provider: x } }\n',
    'models["qwen3:8b"].provider in pawl.yaml:1:25 names a provider "x", which does not exist.',
  ],
  ['broken YAML', 'agents:\n  a: [1, 2\nb: 3\n', /^pawl\.yaml:3:1 is not valid YAML: .*\.$/],
  ['a key that stands twice', 'limits: {}\nlimits: {}\n', 'pawl.yaml:2:1 is not valid YAML: the same key stands here twice.'],
  ['a tab', 'limits:\n\trunning: 1\n', /^pawl\.yaml:2:\d+ is not valid YAML: /],
  ['two documents', 'limits: {}\n---\nlimits: {}\n', /^pawl\.yaml:2:1 is not valid YAML: a second document/],
  ['a tag', 'limits: !run {}\n', 'pawl.yaml:1:9 is not valid YAML: tags (!name) have no meaning here.'],
  ['a value that contains itself', 'agents: &a { x: *a }\n', 'pawl.yaml:1:17 has an alias (*a) inside the value it stands for.'],
  ['a key that is no word', '? [a]\n: 1\n', /^pawl\.yaml:1:3 has a key that is not a plain word\.$/],
  ['a prototype', '__proto__: { x: 1 }\n', 'pawl.yaml:1:1 has a key that is not a plain word.'],
  ['bytes that are no text', new Uint8Array([0xff, 0xfe, 0x00]), 'pawl.yaml:1:1 is not UTF-8 text.'],
] as [string, string | Uint8Array, string | RegExp][])('%s is refused with its place', async ([, yaml, expected]) => {
  const message = await refusalOf(yaml)
  if (typeof expected === 'string') expect(message).toBe(expected)
  else expect(message).toMatch(expected)
})

test('aliases that would grow without bound, and endless nesting, are refused quickly', async () => {
  const levels = Array.from({ length: 12 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(10).fill(`*l${i}`).join(', ')}]`)
  expect(await refusalOf(`l0: &l0 [x]\n${levels.join('\n')}\n`)).toMatch(
    /uses YAML aliases in a way that would grow without bound/,
  )
  expect(await refusalOf('['.repeat(20_000))).toMatch(/pawl\.yaml:\d+:\d+ is .*\n {2}and \d+ more$/s)
  expect(await refusalOf('#'.repeat(200_000))).toMatch(/is larger than 128 KiB/)
})

test('all problems of all files are told at once, as text and as data', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, 'serve: {}\nagents:\n  one: { adapter: custom, command: [] }\n')
  machine.write(
    machine.projectFile,
    'limits: { running: 0 }\nagents:\n  two: { adapter: custom, command: [x], timeout: [], extra: 1 }\n',
  )
  const error = await machine.load().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(PawlError)
  const { code, message, details } = error as PawlError
  expect(code).toBe('invalid')
  expect(message.split('\n')).toEqual([
    '5 problems in the settings:',
    `  - Unknown key "serve" in ${machine.homeFile}:1:1; did you mean "server"?`,
    '  - agents.two.timeout in pawl.yaml:3:41 must be a duration such as 500ms, 10s, 30m, 2h or 1d (a bare number means seconds).',
    '  - limits.running in pawl.yaml:1:11 must be a whole number of at least 1.',
    expect.stringMatching(/^ {2}- Unknown key "extra" at agents\.two in pawl\.yaml:3:54; the known ones are adapter, /),
    `  - agents.one.command in ${machine.homeFile}:3:27 must have at least 1 item.`,
  ])
  expect(details?.problems).toContainEqual({
    file: machine.projectFile,
    line: 1,
    column: 11,
    path: 'limits.running',
    message: expect.any(String),
  })
})

test('a settings file that is a folder is refused instead of passed over', async () => {
  using machine = new Machine()
  mkdirSync(join(machine.project, 'pawl.yaml'))
  expect(await machine.refusal()).toBe(`${machine.projectFile} is not a regular file; settings are read from a file only.`)
})
