import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { adapterContract, converse, fakeAgent, makePlace, type Step, scripted } from '../../../test/contracts/adapter.ts'
import { launch } from '../../../test/contracts/launch.ts'
import { custom } from './agent.ts'

const node = process.execPath
const path = process.env.PATH ?? ''
const map = {
  text: 'text',
  result: 'result',
  session: 'session',
  error: 'error',
  costUsd: 'costUsd',
  inputTokens: 'usage.inputTokens',
  outputTokens: 'usage.outputTokens',
}

adapterContract(custom, {
  options: { command: [node, fakeAgent] },
  missing: custom.options.parse({ command: ['no-such-agent'] }),
  says: (text) => `${text}\n`,
  answers: (text) => `${text}\n`,
})

test.each([
  ['stdin', undefined],
  ['file', undefined],
  ['flag', '--prompt'],
  ['flag', '-p'],
  ['arg', undefined],
] as const)('a prompt that begins with a dash arrives by %s %s', async (prompt, promptFlag) => {
  const show = 'process.stdin.on("data", (d) => process.stdout.write(d)); console.log(JSON.stringify(process.argv.slice(1)))'
  const { verdict, place } = await run({ command: [node, '-e', show, '--'], prompt, promptFlag }, '--version; rm -rf')
  expect(verdict.outcome).toBe('succeeded')
  const [args, ...rest] = verdict.text.split('\n')
  const seen = {
    stdin: { args: '[]', rest: ['--version; rm -rf'] },
    file: { args: JSON.stringify([join(place.home, '.pawl-prompt.txt')]), rest: [] },
    flag: { args: promptFlag === '-p' ? '["-p"," --version; rm -rf"]' : '["--prompt=--version; rm -rf"]', rest: [] },
    arg: { args: '["--","--version; rm -rf"]', rest: [] },
  }[prompt]
  expect({ args, rest }).toEqual(seen)
})

test('arguments come in order: fixed, model, system prompt, extra, prompt', () => {
  const options = custom.options.parse({
    command: ['agent', '--batch'],
    args: ['--fast'],
    prompt: 'arg',
    modelFlag: '--model',
    systemPromptFlag: '-s',
  })
  const spec = {
    options,
    model: 'large',
    systemPrompt: '- be kind',
    prompt: 'hello',
    workspace: '/w',
    home: '/h',
    extraArgs: ['-x'],
  }
  expect(custom.command(spec)).toEqual({
    file: 'agent',
    args: ['--batch', '--model=large', '-s', ' - be kind', '--fast', '-x', '--', 'hello'],
    env: {},
  })
})

test('what the command cannot take is refused by the name of the option', () => {
  const options = custom.options.parse({ command: ['agent'] })
  const spec = { options, prompt: 'hello', workspace: '/w', home: '/h', extraArgs: [] }
  expect(() => custom.command({ ...spec, model: 'large' })).toThrow(/modelFlag/)
  expect(() => custom.command({ ...spec, systemPrompt: 'be kind' })).toThrow(/systemPromptFlag/)
  expect(() => custom.command({ ...spec, resume: 'abc' })).toThrow(/earlier conversation/)
  const byArg = { ...spec, options: custom.options.parse({ command: ['agent'], prompt: 'arg' }) }
  expect(() => custom.command({ ...byArg, prompt: 'x'.repeat(102_401) })).toThrow(/102401 bytes.*prompt: stdin/)
  expect(() => custom.command({ ...byArg, prompt: 'a\0b' })).toThrow(/NUL/)
})

test.each([
  [{ command: [] }, 'command'],
  [{ command: ['agent'], prompt: 'flag' }, 'promptFlag'],
  [{ command: ['agent'], promptFlag: '-p' }, 'promptFlag'],
  [{ command: ['agent'], output: 'jsonl' }, 'map'],
  [{ command: ['agent'], map: { text: 'a' } }, 'map'],
  [{ command: ['agent'], output: 'json', map: { text: 'a..b' } }, 'map.text'],
  [{ command: ['agent'], modelFlag: 'model' }, 'modelFlag'],
])('the options %o are refused at %s', (options, where) => {
  const refused = custom.options.safeParse(options)
  expect(refused.error?.issues.map((issue) => issue.path.join('.'))).toEqual([where])
})

test('lines that arrive together are one message, standard error is kept apart', async () => {
  const { verdict, events } = await play([{ stderr: 'warning' }, { write: 'one\ntwo\n\nthree' }])
  expect(verdict.text).toBe('one\ntwo\n\nthree')
  const all = events.map((event) => ('text' in event.data ? [event.type, event.data.text] : []))
  expect(all.filter(([type]) => type === 'agent.stderr')).toEqual([['agent.stderr', 'warning']])
  expect(all.filter(([type]) => type === 'agent.message').map(([, text]) => text)).toEqual(['one\ntwo\n', 'three'])
})

test('a long answer keeps its beginning and its end and says what is missing', async () => {
  const { verdict } = await play([{ speak: 'the beginning' }, { flood: 3_000_000 }, { speak: 'the end' }])
  expect(verdict.text).toMatch(
    /^the beginning\n[\s\S]*\n\[… \d+ characters left out here; the raw log has them …\]\n[\s\S]*\nthe end$/,
  )
  expect(verdict.text.length).toBeLessThan(1_048_700)
})

test('a declared exit code counts as good', async () => {
  const { verdict } = await play([{ speak: 'findings' }, { exit: 2 }], { toleratedExitCodes: [2] })
  expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'findings' })
})

test('a program that says nothing gives an empty answer', async () => {
  const { verdict } = await play([{ write: ' \n\n' }])
  expect(verdict).toMatchObject({ outcome: 'empty', category: 'empty_answer', text: '' })
})

test('json output is read by the declared paths', async () => {
  const printed = { message: { text: 'forty-two' }, session: 's1', cost: 0.25, usage: { inputTokens: 10, outputTokens: null } }
  const more = { output: 'json', map: { ...map, result: undefined, text: 'message.text', costUsd: 'cost' } }
  const { verdict, events } = await play([{ write: JSON.stringify(printed).replace('null', '1e400') }], more)
  expect(verdict).toEqual({
    outcome: 'succeeded',
    text: 'forty-two',
    vendorSession: 's1',
    costUsd: 0.25,
    usage: { inputTokens: 10, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, turns: 0 },
  })
  expect(events).toEqual([
    { type: 'agent.session', data: { vendorId: 's1' } },
    { type: 'agent.usage', data: { usage: verdict.usage, costUsd: 0.25 } },
    { type: 'agent.message', data: { text: 'forty-two' } },
  ])
})

test.each([
  ['broken JSON', '{"text": "half', { text: 'text' }, 'protocol_error'],
  ['JSON without the declared text', '{"other":1}', { text: 'text' }, 'protocol_error'],
  ['a text that JavaScript itself put there', '{"a":{}}', { text: 'a.constructor.name' }, 'protocol_error'],
  ['an error in the payload', '{"text":"sorry","error":{"message":"no credit"}}', { text: 'text', error: 'error' }, 'exit_code'],
])('%s is a failure, and what was printed is kept', async (_, printed, paths, category) => {
  const { verdict } = await play([{ write: printed }], { output: 'json', map: paths })
  expect(verdict).toMatchObject({ outcome: 'failed', category, text: category === 'exit_code' ? 'sorry' : printed })
})

test('jsonl is said line by line, and the first declared result is the answer', async () => {
  const { verdict, events } = await play(
    [
      { session: 's1' },
      { speak: 'looking' },
      { write: 'not json\n{"type":"new kind"}\n' },
      { result: { result: 'found it', costUsd: 0.5, usage: { inputTokens: 3, outputTokens: 4 } } },
      { result: 'a second one' },
    ],
    { output: 'jsonl', map },
    'jsonl',
  )
  expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'found it', vendorSession: 's1', costUsd: 0.5 })
  expect(verdict.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 })
  expect(events).toEqual([
    { type: 'agent.session', data: { vendorId: 's1' } },
    { type: 'agent.message', data: { text: 'looking' } },
    { type: 'agent.unknown', data: { raw: 'not json\n{"type":"new kind"}' } },
    { type: 'agent.usage', data: { usage: verdict.usage, costUsd: 0.5 } },
  ])
})

test.each([
  ['without the declared result', [{ speak: 'working' }], 'crashed'],
  ['with the result cut in the middle', [{ speak: 'working' }, { write: '{"result":"ha' }], 'protocol_error'],
])('jsonl that ends %s is no success', async (_, steps, category) => {
  const { verdict } = await play(steps, { output: 'jsonl', map }, 'jsonl')
  expect(verdict).toMatchObject({ outcome: 'failed', category, text: 'working' })
})

test('a jsonl line of 5 MB is read whole', async () => {
  const { verdict } = await play([{ result: { result: 'z'.repeat(5_000_000) } }], { output: 'jsonl', map }, 'jsonl')
  expect(verdict).toMatchObject({ outcome: 'succeeded', text: expect.stringMatching(/^z+\n\[… \d+ characters/) })
})

test('the probe tells the version, and what is wrong in words that help', async () => {
  const probe = (options: object, folder?: string) => custom.probe(custom.options.parse(options), { path, folder })
  expect(await probe({ command: [node], versionArgs: ['--version'] })).toMatchObject({ healthy: true, version: process.version })
  expect(await probe({ command: [node], versionArgs: ['--no-such-option'] })).toMatchObject({
    installed: true,
    healthy: false,
    detail: expect.stringContaining('code 9'),
  })
  expect(await probe({ command: ['./agent'] })).toMatchObject({ healthy: true, detail: expect.stringContaining('workspace') })
  const place = await makePlace()
  await writeFile(join(place.home, 'agent'), '#!/bin/sh\n', { mode: 0o644 })
  expect(await probe({ command: ['./agent'] }, place.home)).toMatchObject({
    installed: false,
    fix: `Make it executable: chmod +x ${join(place.home, 'agent')}`,
  })
})

test('a program that hangs when asked for its version is unhealthy within five seconds', async () => {
  const began = performance.now()
  const options = custom.options.parse({ command: ['sh'], versionArgs: ['-c', 'sleep 60 & wait'] })
  expect(await custom.probe(options, { path })).toMatchObject({ installed: true, healthy: false })
  expect(performance.now() - began).toBeLessThan(5_000)
})

async function run(options: object, prompt: string) {
  const place = await makePlace()
  const spec = { options: custom.options.parse(options), prompt, ...place, extraArgs: [] }
  const child = await launch(custom.command(spec), place)
  onTestFinished(async () => void (await child.stop({ graceMs: 0 })))
  return { place, ...(await converse(custom, child, spec, { prompt })) }
}

async function play(steps: Step[], options: object = {}, output: 'text' | 'jsonl' = 'text') {
  const place = await makePlace()
  const spec = { options: custom.options.parse({ command: ['fake'], ...options }), prompt: '', ...place, extraArgs: [] }
  const child = await launch(scripted(steps, place, output), place)
  onTestFinished(async () => void (await child.stop({ graceMs: 0 })))
  return converse(custom, child, spec)
}
