import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { adapterContract, converse, fakeAgent, makePlace, type Step, scripted } from '../../../test/contracts/adapter.ts'
import { launch } from '../../../test/contracts/launch.ts'
import { custom } from './agent.ts'

const node = process.execPath
const path = process.env.PATH ?? ''
const place = { workspace: '/w', home: '/h' }
const banner = { pattern: '^session id: (\\S+)$', stream: 'stderr' } as const
const resuming = { sessionId: banner, resume: ['--resume', '{session}'] }
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

test('everything else that can be declared has its place: fixed, resume, base, model; variables and files beside them', () => {
  const options = custom.options.parse({
    command: ['agent', 'exec'],
    baseArgs: ['--json'],
    args: ['--fast'],
    prompt: 'file',
    promptFlag: '--message-file',
    modelArg: true,
    modelVariable: 'AGENT_MODEL',
    baseUrlVariable: 'AGENT_URL',
    systemPromptVia: 'file',
    systemPromptFlag: '--rules',
    sessionId: { pattern: 'session: (\\S+)', stream: 'stderr' },
    resume: ['resume', '{session}'],
    homeFiles: { '.agent/settings.json': '{}' },
    mcp: { flag: '--servers', content: '{}' },
  })
  const spec = {
    options,
    model: 'large',
    systemPrompt: 'be kind',
    prompt: 'hello',
    resume: 's-1',
    baseUrl: 'http://m',
    ...place,
    extraArgs: [],
    tools: true,
  }
  expect(custom.command(spec)).toEqual({
    file: 'agent',
    args: [
      'exec',
      'resume',
      's-1',
      '--json',
      'large',
      '--rules=/h/.pawl-system-prompt.md',
      '--servers=/h/.pawl-mcp.json',
      '--fast',
      '--message-file=/h/.pawl-prompt.txt',
    ],
    env: { AGENT_MODEL: 'large', AGENT_URL: 'http://m' },
    files: {
      '.agent/settings.json': '{}',
      '.pawl-system-prompt.md': 'be kind',
      '.pawl-mcp.json': '{}',
      '.pawl-prompt.txt': 'hello',
    },
  })
  expect(custom.command({ ...spec, tools: false }).args).not.toContain('--servers=/h/.pawl-mcp.json')
  const seeded = custom.options.parse({ command: 'agent', systemPromptVia: 'file', systemPromptPath: '.agent/AGENTS.md' })
  expect(custom.command({ ...spec, options: seeded, model: undefined, resume: undefined })).toEqual({
    file: 'agent',
    args: [],
    env: {},
    files: { '.agent/AGENTS.md': 'be kind' },
  })
})

test('a system prompt that is a prefix stands before the prompt, by whichever way that goes', async () => {
  const echo = 'process.stdin.on("data", (d) => process.stdout.write(d)); console.log(process.argv.slice(1).join(" "))'
  for (const prompt of ['stdin', 'arg'] as const) {
    const options = { command: [node, '-e', echo, '--'], prompt, systemPromptVia: 'prefix' }
    expect((await run(options, 'go', { systemPrompt: 'be kind' })).verdict.text).toContain('be kind\n\ngo')
  }
})

test('an id of a conversation that could be read as an option or a path never reaches the command', () => {
  const options = custom.options.parse({ ...resuming, command: 'agent' })
  for (const resume of ['--help', '../x', 'a/b', 'a b', ''])
    expect(() => custom.command({ options, prompt: '', ...place, resume, extraArgs: [] })).toThrow(/no id of a conversation/)
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
  [{ command: 'agent --batch' }, 'command'],
  [{ command: 'agent', modelFlag: '-m', modelArg: true }, 'modelArg'],
  [{ command: 'agent', systemPromptVia: 'file' }, 'systemPromptVia'],
  [{ command: 'agent', systemPromptVia: 'prefix', systemPromptFlag: '-s' }, 'systemPromptFlag'],
  [{ command: 'agent', systemPromptVia: 'file', systemPromptPath: '../x' }, 'systemPromptPath'],
  [{ command: 'agent', sessionId: { pattern: 'session', stream: 'stderr' } }, 'sessionId.pattern'],
  [{ command: 'agent', sessionId: { pattern: '(', stream: 'stderr' } }, 'sessionId.pattern'],
  [{ command: 'agent', sessionId: { pattern: '(x)', stream: 'both' } }, 'sessionId.stream'],
  [{ command: 'agent', output: 'json', map: { session: 's' }, sessionId: { pattern: '(x)', stream: 'stderr' } }, 'sessionId'],
  [{ command: 'agent', resume: ['--resume', '{session}'] }, 'resume'],
  [{ command: 'agent', resume: ['--continue'], sessionId: { pattern: '(x)', stream: 'stderr' } }, 'resume'],
  [{ command: 'agent', sessionFiles: ['.agent/{session}.jsonl'] }, 'sessionFiles'],
  [{ command: 'agent', versionPattern: '(x)' }, 'versionPattern'],
  [{ command: 'agent', retries: true }, 'retries'],
  [{ command: 'agent', mcp: {} }, 'mcp'],
  [{ command: 'agent', mcp: { flag: '--mcp', path: 'mcp.json' } }, 'mcp'],
  [{ command: 'agent', mcp: { path: 'a.json' }, homeFiles: { 'a.json': '{}' } }, 'mcp'],
  [{ command: 'agent', keys: ['not a name'] }, 'keys.0'],
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

test.each(['json', 'jsonl'] as const)('in %s, too, an id that could be an option or a path is none', async (output) => {
  for (const session of ['--help', '../x', 'a/b', 'x'.repeat(200)]) {
    const show = `console.log(${JSON.stringify(JSON.stringify({ text: 'done', session }))})`
    const { verdict, events } = await run({ command: [node, '-e', show], output, map: { text: 'text', session: 'session' } }, '')
    expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'done', vendorSession: undefined })
    expect(events.map(({ type }) => type)).not.toContain('agent.session')
  }
})

test('text may lie in every item of a list, and only where other fields say so', async () => {
  const said = (type: string, ...texts: string[]) => ({
    write: `${JSON.stringify({ type, content: texts.map((text) => ({ text })) })}\n`,
  })
  const paths = { text: 'content.*.text', textWhere: { type: 'assistant' } }
  const steps = [said('assistant', 'one', 'two'), said('tool', 'not mine'), said('assistant', 'three')]
  expect((await play(steps, { output: 'jsonl', map: paths }, 'jsonl')).verdict.text).toBe('one\ntwo\nthree')
})

test('what is being said is told piece by piece: an unfinished line, or what is declared as a piece', async () => {
  const text = await play([{ write: 'one ' }, { sleep: 300 }, { write: 'two\nthree ' }, { sleep: 300 }, { write: 'four\n' }])
  expect(text.grown).toEqual(['one ', 'three '])
  expect(text.verdict.text).toBe('one two\nthree four')
  const piece = (text: string) => ({ write: `${JSON.stringify({ type: 'delta', piece: text })}\n` })
  const steps = [piece('he'), piece('llo'), { speak: 'hello' }]
  const paths = { text: 'text', partial: 'piece', partialWhere: { type: 'delta' } }
  const lines = await play(steps, { output: 'jsonl', map: paths }, 'jsonl')
  expect(lines.grown).toEqual(['he', 'llo'])
  expect(lines.events).toEqual([{ type: 'agent.message', data: { text: 'hello' } }])
})

test('the id of a conversation is found in the declared stream alone, in any case, and told at once', async () => {
  const { verdict, events } = await play([{ stderr: 'Session ID: abc-1\n' }, { speak: 'session id: forged' }], {
    sessionId: banner,
  })
  expect(verdict).toMatchObject({ outcome: 'succeeded', vendorSession: 'abc-1' })
  expect(events.filter(({ type }) => type === 'agent.session')).toEqual([{ type: 'agent.session', data: { vendorId: 'abc-1' } }])
  const out = await play([{ stderr: 'session id: forged\n' }, { speak: 'session id: abc-2' }], {
    sessionId: { ...banner, stream: 'stdout' },
  })
  expect(out.verdict.vendorSession).toBe('abc-2')
})

test('what a tool prints later in the same stream forges no id', async () => {
  const forged = { stderr: 'session id: forged\n' }
  const own = { stderr: 'session id: own\n' }
  expect((await play([own, forged, { speak: 'done' }], { sessionId: banner })).verdict.vendorSession).toBe('own')
  const noise = Array.from({ length: 60 }, () => ({ stderr: 'working\n' }))
  expect((await play([...noise, forged, { speak: 'done' }], { sessionId: banner })).verdict.vendorSession).toBeUndefined()
  const atEnd = { sessionId: { ...banner, at: 'end' } }
  expect((await play([forged, own, { speak: 'done' }], atEnd)).verdict.vendorSession).toBe('own')
  expect((await play([forged, ...noise, { speak: 'done' }], atEnd)).verdict.vendorSession).toBeUndefined()
})

test.each([['nothing at all'], ['session id: --help'], ['session id: ../../etc/passwd'], ['my session id: in the middle']])(
  'a stream that says %j has no id, and that is no error',
  async (line) => {
    const { verdict } = await play([{ stderr: `${line}\n` }, { speak: 'done' }], { sessionId: banner })
    expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'done', vendorSession: undefined })
  },
)

test('what it can do is what its options say', () => {
  const able = (options: object) => {
    const { can, login, hosts, sessions, install } = custom.suited!(custom.options.parse({ command: 'agent', ...options }))
    return {
      can: Object.entries(can).flatMap(([name, yes]) => (yes ? [name] : [])),
      login,
      hosts,
      layouts: sessions?.layouts('s-1'),
      install,
    }
  }
  expect(able({})).toEqual({ can: ['usage'], login: undefined, hosts: undefined, layouts: undefined, install: undefined })
  const sessionFiles = ['.agent/*/{session}.jsonl']
  expect(
    able({
      ...resuming,
      sessionFiles,
      modelFlag: '-m',
      systemPromptVia: 'prefix',
      keys: ['A_KEY'],
      hosts: ['a.example'],
      install: 'get it',
    }),
  ).toEqual({
    can: ['resume', 'usage', 'systemPrompt', 'model'],
    login: { variables: ['A_KEY'], files: [] },
    hosts: ['a.example'],
    layouts: ['.agent/*/s-1.jsonl'],
    install: 'get it',
  })
})

test.each([
  [
    'as declared',
    [{ stderr: 'No session s-1 here' }, { exit: 4 }],
    { missingSession: 'no session \\S+ here' },
    'session_missing',
  ],
  ['otherwise than declared', [{ stderr: 'disk full' }, { exit: 4 }], { missingSession: 'no session' }, 'exit_code'],
  ['without a word, with nothing declared', [{ stderr: 'unknown' }, { exit: 4 }], {}, 'session_missing'],
  ['after some words, with nothing declared', [{ speak: 'half' }, { exit: 4 }], {}, 'exit_code'],
])('a program that was to go on and fails %s is %s', async (_, steps, more, category) => {
  const options = { ...resuming, ...more }
  expect((await play(steps, options, 'text', { resume: 's-1' })).verdict).toMatchObject({ outcome: 'failed', category })
  expect((await play(steps, options)).verdict).toMatchObject({ outcome: 'failed', category: 'exit_code' })
})

test('a cause that the last words name wins over a conversation that is not known, but for one that is declared', async () => {
  const limited = [{ stderr: 'HTTP 429 rate limited' }, { exit: 1 }]
  const category = async (options: object) => (await play(limited, options, 'text', { resume: 's-1' })).verdict.category
  expect(await category(resuming)).toBe('rate_limited')
  expect(await category({ ...resuming, missingSession: 'HTTP 429' })).toBe('session_missing')
})

test('a failure that the output names is understood as well, and a killed program has no reason of its own', async () => {
  const jsonl = { output: 'jsonl', map: { text: 'text', error: 'error' } }
  const said = (error: string) => [{ write: `${JSON.stringify({ error })}\n` }]
  expect((await play(said('429 Too Many Requests'), jsonl, 'jsonl')).verdict).toMatchObject({ category: 'rate_limited' })
  expect((await play(said('it rained'), jsonl, 'jsonl')).verdict).toMatchObject({ category: 'exit_code', message: 'it rained' })
  const killed = await play([{ stderr: 'HTTP 429 rate limited' }, { crash: 'SIGKILL' }])
  expect(killed.verdict).toMatchObject({ outcome: 'failed', category: 'crashed' })
})

test('the probe tells whether a key is set, how to install it, and the version by its pattern', async () => {
  const options = custom.options.parse({
    command: [node],
    keys: ['A_KEY'],
    versionArgs: ['--version'],
    versionPattern: 'v([0-9]+)\\.',
  })
  const probe = (set: Record<string, string>) => custom.probe(options, { path, environment: () => set })
  expect(await probe({ A_KEY: 'x' })).toMatchObject({
    healthy: true,
    loggedIn: true,
    version: process.versions.node.split('.')[0],
  })
  expect(await probe({ A_KEY: ' ' })).toMatchObject({ healthy: true, loggedIn: false, fix: expect.stringContaining('A_KEY') })
  const missing = custom.options.parse({ command: 'no-such-agent', install: 'npm install -g it' })
  expect(await custom.probe(missing, { path })).toMatchObject({ installed: false, fix: 'npm install -g it' })
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

test('a program that hangs when asked for its version is unhealthy, and nobody waits for it', async () => {
  const began = performance.now()
  const options = custom.options.parse({ command: ['sh'], versionArgs: ['-c', 'sleep 60 & wait'] })
  expect(await custom.probe(options, { path })).toMatchObject({ installed: true, healthy: false })
  expect(performance.now() - began).toBeLessThan(25_000)
})

async function run(options: object, prompt: string, more: { systemPrompt?: string } = {}) {
  const place = await makePlace()
  const spec = { options: custom.options.parse(options), prompt, ...place, extraArgs: [], ...more }
  const child = await launch(custom.command(spec), place)
  onTestFinished(async () => void (await child.stop({ graceMs: 0 })))
  return { place, ...(await converse(custom, child, spec, { prompt })) }
}

async function play(steps: Step[], options: object = {}, output: 'text' | 'jsonl' = 'text', more: { resume?: string } = {}) {
  const place = await makePlace()
  const spec = { options: custom.options.parse({ command: ['fake'], ...options }), prompt: '', ...place, extraArgs: [], ...more }
  const child = await launch(scripted(steps, place, output), place)
  onTestFinished(async () => void (await child.stop({ graceMs: 0 })))
  return converse(custom, child, spec)
}
