import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { adapters, presets } from '../agents/index.ts'
import { Name } from '../domain/id.ts'
import { findAgent } from './load.ts'
import { showConfig } from './show.ts'
import { Machine } from './testing.ts'

let machine: Machine
beforeEach(() => {
  machine = new Machine()
})
afterEach(() => machine[Symbol.dispose]())

const write = (text: string) => machine.write(join(machine.root, 'workspace', 'config.yaml'), text)
const load = (file: string, env: Record<string, string> = {}) =>
  machine.load({ adapters, presets, env, flags: { config: file, trust: true } })
const refusal = (file: string) => machine.refusal({ adapters, presets, flags: { config: file, trust: true } })

const whole = `name: Backend Engineer
description: builds the backend
tier: 2
model: other
runtime: codex
runtime_config:
  command: ./bin/codex
  args: [-c, model_verbosity="low"]
  required_env: [FIRST_KEY, GITHUB_TOKEN]
  timeout: 300
  model: gpt-5.3-codex
  auth_token_env: OLD_TOKEN
  auth_token_file: .auth-token
`

test('the settings of a workspace become an agent with the same meaning, and every line of it is told', async () => {
  const file = write(whole)
  machine.write(join(machine.root, 'workspace', 'system-prompt.md'), 'Be kind.')
  const config = await load(file, { FIRST_KEY: 'k', GITHUB_TOKEN: 't' })
  const folder = join(machine.root, 'workspace')
  expect(config.defaultAgent).toBe('Backend-Engineer')
  expect(findAgent(config, 'Backend-Engineer')).toMatchObject({
    adapter: 'codex',
    model: 'gpt-5.3-codex',
    timeoutMs: 300_000,
    auth: { env: ['FIRST_KEY', 'OLD_TOKEN'], file: join(folder, '.auth-token') },
    env: { pass: ['FIRST_KEY', 'GITHUB_TOKEN'], set: {} },
    systemPromptFile: [join(folder, 'system-prompt.md')],
    options: { command: join(folder, 'bin/codex'), args: ['-c', 'model_verbosity="low"'] },
  })
  const from = Object.fromEntries(showConfig(config).map(({ path, source }) => [path, source.replace(/^.*:/, '')]))
  const at = (key: string) => from[`agents.Backend-Engineer.${key}`]
  expect(['adapter', 'options.command', 'options.args', 'env.pass', 'timeout', 'model', 'auth.file'].map(at)).toEqual([
    '5',
    '7',
    '8',
    '9',
    '10',
    '11',
    '13',
  ])
})

test('what has no meaning here, is deprecated or not set is named', async () => {
  const { notes } = await load(write(whole), { FIRST_KEY: 'k' })
  expect(notes.map((note) => note.replaceAll(machine.root, ''))).toEqual([
    '/workspace/config.yaml is a workspace of Molecule; of it Pawl leaves alone: description, tier.',
    'runtime_config.auth_token_env in /workspace/config.yaml:12 is deprecated: name the variable of the key in required_env.',
    'runtime_config.auth_token_file in /workspace/config.yaml:13 is deprecated: name the variable of the key in required_env.',
    'runtime_config.required_env in /workspace/config.yaml:9 names GITHUB_TOKEN, which is not set; set it where Pawl is started.',
    'runtime_config.auth_token_file in /workspace/config.yaml:13 names .auth-token, which does not exist; write the key there, or take it out.',
  ])
})

test('the first variable of required_env that is set is the key', async () => {
  const { auth } = findAgent(await load(write(whole), { FIRST_KEY: ' ', GITHUB_TOKEN: 't' }), 'Backend-Engineer')
  expect(auth?.env).toEqual(['GITHUB_TOKEN', 'OLD_TOKEN'])
})

test.each(['claude-code', 'codex', 'gemini-cli', 'ollama', 'qwen-code'])(
  'runtime %s is the agent of that name',
  async (runtime) => {
    const config = await load(write(`runtime: ${runtime}\n`))
    const { name, adapter, preset } = findAgent(config, config.defaultAgent!)
    expect([name, preset ?? adapter]).toEqual([runtime, runtime])
  },
)

test('a command for a runtime that Pawl speaks to by itself does nothing, and is named', async () => {
  const { notes } = await load(write('runtime: ollama\nruntime_config: {command: /usr/bin/ollama, model: llama3}\n'))
  expect(notes).toEqual([expect.stringMatching(/^runtime_config\.command in .*:2 does nothing: Pawl speaks to ollama by/)])
})

test('a custom runtime is its command, with the prompt behind -p', async () => {
  const config = await load(write('runtime: custom\nruntime_config: {command: my-agent, args: [--fast], timeout: 0}\n'))
  const agent = findAgent(config, 'custom')
  expect(agent).toMatchObject({
    adapter: 'custom',
    timeoutMs: null,
    options: { command: 'my-agent', args: ['--fast'], prompt: 'flag', promptFlag: '-p', keys: [] },
  })
  const spec = { options: agent.options, prompt: 'do it', workspace: '/w', home: '/h', extraArgs: [] }
  expect(adapters.find(({ name }) => name === 'custom')!.command(spec)).toMatchObject({
    file: 'my-agent',
    args: ['--fast', '-p', 'do it'],
  })
})

test('a custom runtime with a model and a system prompt gets them without a further argument', async () => {
  machine.write(join(machine.root, 'workspace', 'system-prompt.md'), 'Be kind.')
  const config = await load(write('runtime: custom\nmodel: large\nruntime_config: {command: my-agent, args: [--fast]}\n'))
  const { options, model } = findAgent(config, 'custom')
  const spec = { options, model, systemPrompt: 'Be kind.', prompt: 'do it', workspace: '/w', home: '/h', extraArgs: [] }
  expect(adapters.find(({ name }) => name === 'custom')!.command(spec)).toMatchObject({
    file: 'my-agent',
    args: ['--fast', '-p', 'Be kind.\n\ndo it'],
    env: { MODEL: 'large' },
  })
})

test('what the program of an agent cannot take is refused where it is written, and not in its first run', async () => {
  const plain = machine.write(
    machine.projectFile,
    'agents:\n  a: {adapter: custom, command: my-agent, model: large, systemPrompt: be kind}\n',
  )
  const sentence = await refusal(plain)
  expect(sentence).toMatch(/agents\.a\.model in .*:2:.* cannot be used: the agent takes no model; say how with modelFlag/)
  expect(sentence).toMatch(/agents\.a\.systemPrompt in .*:2:.* takes no system prompt; say how with systemPromptFlag/)
})

test.each([
  ['Backend Engineer', 'Backend-Engineer'],
  ['  QA: e2e / smoke!', 'QA-e2e-smoke'],
  ['x'.repeat(100), 'x'.repeat(64)],
  ['constructor', 'codex'],
  ['日本', 'codex'],
])('the workspace %j is an agent that every part of Pawl accepts by its name', async (title, name) => {
  const config = await load(write(`name: ${JSON.stringify(title)}\nruntime: codex\n`))
  expect(config.defaultAgent).toBe(name)
  expect(Name.parse(name)).toBe(name)
})

test('all prompt files are read in their order, and those that are missing are named', async () => {
  const file = write('runtime: codex\nprompt_files: [b.md, gone.md, a.md]\n')
  for (const name of ['a.md', 'b.md', 'system-prompt.md']) machine.write(join(machine.root, 'workspace', name), name)
  const config = await load(file)
  const folder = join(machine.root, 'workspace')
  expect(findAgent(config, 'codex').systemPromptFile).toEqual([join(folder, 'b.md'), join(folder, 'a.md')])
  expect(config.notes).toEqual([`prompt_files in ${file}:2 names gone.md, which does not exist; make it, or take it out.`])
})

test('the initial and the idle prompt are schedules of the agent', async () => {
  const folder = join(machine.root, 'workspace')
  machine.write(join(folder, 'hello.md'), 'Say hello.\n')
  const config = await load(
    write('name: Helper\nruntime: codex\ninitial_prompt_file: hello.md\nidle_prompt: Look around.\nidle_interval_seconds: 90\n'),
  )
  const task = { agent: 'Helper', workspace: folder }
  expect(config.schedules).toEqual([
    {
      ...{ name: 'Helper-initial', when: { kind: 'initial' }, task: { prompt: 'Say hello.', ...task } },
      ...{ session: 'new', overlap: 'skip', catchUp: 'one', jitterMs: 0 },
    },
    {
      ...{ name: 'Helper-idle', when: { kind: 'idle', idleMs: 90_000, of: 'agent' }, task: { prompt: 'Look around.', ...task } },
      ...{ session: 'keep', overlap: 'skip', catchUp: 'one', jitterMs: 0 },
    },
  ])
  expect(config.notes).toEqual(['A daemon with these settings fires the schedules Helper-initial and Helper-idle.'])
  expect(await refusal(write('runtime: codex\nidle_prompt_file: gone.md\n'))).toMatch(
    /idle_prompt_file in .*:2:1 names gone\.md, which does not exist/,
  )
})

test('skills that Pawl has are those of the agent, and any other is refused with the command that brings it', async () => {
  const file = write('name: Helper\nruntime: codex\nskills: [review]\n')
  expect(await refusal(file)).toMatch(/skills\[0\] in .*:3:.* names the skill "review", which Pawl does not have; copy .* to .*/)
  machine.write(join(machine.home, 'skills', 'review', 'SKILL.md'), '---\ndescription: reviews\n---\nReview it.\n')
  const agent = findAgent(await load(file), 'Helper')
  expect([agent.profile, agent.rights?.base, agent.rights?.skills]).toEqual(['Helper-skills', 'guarded', ['review']])
  expect(await refusal(write('runtime: custom\nruntime_config: {command: my-agent}\nskills: [review]\n'))).toMatch(
    /skills in .*:3:1 cannot be used: the agent can be given no skills, and profile "custom-skills" names review; take them out/,
  )
})

test('what Pawl decides elsewhere is refused by name with what to do, and an empty value says nothing', async () => {
  const keys = [
    'plugins: [a]',
    'tools: [a]',
    'shared_context: [a.md]',
    'delegation: {retry: 3}',
    'sandbox: {memory: 256m}',
    'rbac: {roles: [a]}',
    'hitl: {default_timeout: 300}',
    'governance: {enabled: true}',
    'security_scan: block',
    'compliance: {max_task_duration: 300}',
    'sub_workspaces: [a]',
  ]
  const sentence = await refusal(write(`runtime: codex\n${keys.join('\n')}\n`))
  for (const [index, key] of keys.entries())
    expect(sentence).toMatch(new RegExp(`${key.split(':')[0]} in .*:${index + 2}:1 is not taken over: \\S`))
  const empty = [
    'skills: []',
    'tools: []',
    'plugins: []',
    'rbac: {}',
    'sub_workspaces: []',
    "initial_prompt: ''",
    'prompt_files: []',
  ]
  expect((await load(write(`runtime: codex\n${empty.join('\n')}\n`))).notes).toEqual([])
})

test('an unknown runtime is refused with every valid one', async () => {
  const sentence = await refusal(write('name: a\nruntime: langgraph\n'))
  const names = [...adapters, ...presets].map(({ name }) => name).join(', ')
  expect(sentence).toMatch(/runtime in .*:2:1: there is no runtime "langgraph"/)
  expect(sentence).toContain(`(there are ${names})`)
  expect(await refusal(write('runtime: codx\n'))).toContain('did you mean "codex"?')
})

test.each([
  ['runtime: codex\nruntime_config: {timout: 3}\n', /Unknown key "timout" at runtime_config in .*:2:.*did you mean "timeout"/],
  ['runtime: codex\nruntme_config: {}\n', /Unknown key "runtme_config" in .*:2:.*did you mean "runtime_config"/],
  ['runtime: codex\nruntime_config: {timeout: soon}\n', /runtime_config\.timeout in .*:2:.* must be a number of seconds/],
  [
    'runtime: codex\nruntime_config: {required_env: [sk-123]}\n',
    /runtime_config\.required_env\[0\] in .* must be the name of a variable/,
  ],
  ['runtime_config: {command: x}\n', /runtime in .* is missing/],
  ['runtime: custom\n', /runtime_config\.command in .* is missing; it must be a list of the program/],
])('a workspace file %j is refused in its own words', async (text, sentence) => {
  expect(await refusal(write(text))).toMatch(sentence)
})

test('a workspace file that nobody trusts decides nothing', async () => {
  const config = await machine.load({ adapters, presets, flags: { config: write('name: a\nruntime: codex\n') } })
  expect(config.agents.some(({ name }) => name === 'a')).toBe(false)
  expect(config.untrusted?.agents).toEqual(['a'])
})

test('a file that is named and not there is refused', async () => {
  expect(await refusal('/no/such/config.yaml')).toBe(
    'There is no settings file /no/such/config.yaml; correct --config or PAWL_CONFIG.',
  )
})
