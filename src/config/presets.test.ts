import { afterEach, beforeEach, expect, test } from 'vitest'
import { adapters, presets } from '../agents/index.ts'
import { jsonSchema } from './json-schema.ts'
import { findAgent } from './load.ts'
import { showConfig } from './show.ts'
import { Machine } from './testing.ts'

let machine: Machine
beforeEach(() => {
  machine = new Machine()
})
afterEach(() => machine[Symbol.dispose]())
const known = { adapters, presets }

test('every preset is an agent without any configuration, after the others', async () => {
  const { agents } = await machine.load(known)
  expect(agents.slice(-presets.length).map(({ name, adapter, source }) => [name, adapter, source])).toEqual(
    presets.map(({ name, adapter }) => [name, adapter, 'builtin']),
  )
})

test('an agent of a preset has what the preset says and what its entry adds, and each tells where it is from', async () => {
  machine.write(
    machine.homeFile,
    'agents:\n  mine: {preset: qwen-code, model: qwen3-coder, command: ./qwen, args: [--debug], env: [TEAM=a], budget: {usd: 2}}\n',
  )
  const config = await machine.load(known)
  const preset = presets.find(({ name }) => name === 'qwen-code')!
  expect(findAgent(config, 'mine')).toMatchObject({
    adapter: preset.adapter,
    preset: 'qwen-code',
    model: 'qwen3-coder',
    budget: { usd: 2 },
    env: { set: { ...preset.env, TEAM: 'a' } },
    options: { ...preset.options, command: `${machine.home}/qwen`, args: ['--debug'] },
  })
  const rows = Object.fromEntries(showConfig(config).map(({ path, source, value }) => [path, [source, value]]))
  expect(rows['agents.mine.options.output']).toEqual(['preset qwen-code', 'jsonl'])
  expect(rows['agents.mine.options.keys']).toEqual(['preset qwen-code', ['OPENAI_API_KEY']])
  expect(rows['agents.mine.options.args']?.[0]).toMatch(/config\.yaml:2$/)
  expect(rows['agents.mine.adapter']).toEqual(['preset qwen-code', 'custom'])
})

test('the words by which a program says why it failed can be added to a preset, strictly', async () => {
  machine.write(
    machine.homeFile,
    'agents:\n  mine:\n    preset: goose\n    failurePatterns:\n      usage_limit: ["^no more honks until (.+)"]\n',
  )
  const failurePatterns = { usage_limit: ['^no more honks until (.+)'] }
  expect(findAgent(await machine.load(known), 'mine')).toMatchObject({ preset: 'goose', options: { failurePatterns } })
  machine.write(machine.homeFile, 'agents:\n  mine: {preset: goose, failurePatterns: {weather: ["^rain"]}}\n')
  await expect(machine.load(known)).rejects.toThrow(/weather/)
})

test('what is said of a preset by its own name is added to it, and another program under that name has nothing of it', async () => {
  machine.write(
    machine.homeFile,
    'agents:\n  qwen-code: {model: a}\n  goose: {adapter: custom, command: [mine]}\n  amp: {preset: aider}\n',
  )
  const config = await machine.load(known)
  expect(findAgent(config, 'qwen-code')).toMatchObject({ preset: 'qwen-code', model: 'a', options: { command: 'qwen' } })
  const goose = findAgent(config, 'goose')
  expect([goose.preset, goose.options.command, goose.options.baseArgs]).toEqual([undefined, ['mine'], []])
  expect(findAgent(config, 'amp')).toMatchObject({ preset: 'aider', options: { command: 'aider' } })
})

test.each([
  [
    '{preset: qwen-cod}',
    /agents\.mine\.preset in .*:2:.*there is no preset "qwen-cod" \(there are qwen-code, .*did you mean "qwen-code"/,
  ],
  [
    '{preset: qwen-code, adapter: codex}',
    /agents\.mine\.adapter in .*:2:.* is decided by preset "qwen-code"; leave one of the two out/,
  ],
  ['{preset: qwen-code, output: text}', /agents\.mine\.output in .*:2:.* is decided by preset "qwen-code"/],
  ['{preset: qwen-code, options: {prompt: arg, output: json}}', /agents\.mine\.options\.output in .* is decided by preset/],
  ['{preset: qwen-code, outptu: text}', /Unknown key "outptu" at agents\.mine.*did you mean "output"/],
])('an agent written %s is refused with its place', async (entry, sentence) => {
  machine.write(machine.homeFile, `agents:\n  mine: ${entry}\n`)
  expect(await machine.refusal(known)).toMatch(sentence)
})

test('a project that nobody trusts cannot put another program in the place of a preset', async () => {
  machine.write(machine.projectFile, 'agents:\n  goose: {preset: aider, model: x}\n')
  const config = await machine.load(known)
  expect(findAgent(config, 'goose')).toMatchObject({ preset: 'goose', options: { command: 'goose' } })
  expect(config.untrusted?.keys).toEqual(['agents.goose'])
})

test('the published schema knows the names of the presets', () => {
  const text = JSON.stringify(jsonSchema(adapters, presets))
  expect(text).toContain(JSON.stringify(presets.map(({ name }) => name)))
})
