import { expect, test } from 'vitest'
import { adapterNamed, adapters, presets } from './index.ts'

const launch = { prompt: 'go', workspace: '/w', home: '/h', extraArgs: [] }

test.each(presets)(
  'the preset $name is whole: its adapter takes its options, and it says how it is installed and described',
  (preset) => {
    const { name, title, adapter, options, keys, install, docs, tried } = preset
    const { login, install: told, can } = adapterNamed(adapter, options)
    const parsed = adapterNamed(adapter).options.parse(options)
    expect(parsed).toMatchObject({ ...options })
    expect(login?.variables).toEqual(keys)
    expect(told).toBe(install)
    expect([name, title, install].every((text) => text !== '')).toBe(true)
    expect(docs).toMatch(/^https:\/\//)
    expect(tried).toMatch(/^(untried|\d+\.\d+\.\d+)$/)
    const model = can.model ? { model: 'large' } : {}
    const { args, env } = adapterNamed(adapter).command({ ...launch, options: parsed, ...model })
    expect([...args, ...Object.values(env)].join(' ')).toContain(can.model ? 'large' : '')
  },
)

test('a preset whose program asks several makers is pointed at the gateway with the key of one of them only', () => {
  const servedAt = 'http://127.0.0.1:1/model'
  const made = (name: string, baseUrl?: string) => {
    const { adapter, options } = presets.find((preset) => preset.name === name)!
    const kind = adapterNamed(adapter, options)
    const use = kind.models?.(kind.options.parse(options))
    const url = baseUrl && `${baseUrl}${use?.suffix ?? ''}`
    return { use, ...kind.command({ ...launch, options: kind.options.parse(options), model: 'gpt-5', baseUrl: url }) }
  }
  expect(made('aider', servedAt)).toMatchObject({
    use: { wire: 'openai-chat', keys: ['OPENAI_API_KEY'] },
    env: { OPENAI_API_BASE: `${servedAt}/v1` },
    args: expect.arrayContaining(['--model=openai/gpt-5']),
  })
  expect(made('aider')).toMatchObject({ env: {}, args: expect.arrayContaining(['--model=gpt-5']) })
  expect(made('copilot', servedAt)).toMatchObject({
    use: { wire: 'openai-chat', keys: ['COPILOT_PROVIDER_API_KEY'] },
    env: { COPILOT_PROVIDER_BASE_URL: `${servedAt}/v1` },
  })
  expect(made('goose', servedAt)).toMatchObject({
    use: { wire: 'openai-chat', keys: ['OPENAI_API_KEY'] },
    env: { OPENAI_HOST: `${servedAt}/` },
    args: expect.arrayContaining(['--model=gpt-5']),
  })
})

test('patterns of failures can be declared beside every preset', () => {
  const failurePatterns = { usage_limit: ['^out of gas'], auth_failed: ['^who are you'] }
  for (const { adapter, options } of presets)
    expect(adapterNamed(adapter).options.parse({ ...options, failurePatterns })).toMatchObject({ failurePatterns })
})

test('no preset has the name of another agent', () => {
  const names = [
    ...adapters.flatMap(({ name, builtin }) => [name, ...(builtin && builtin.name !== name ? [builtin.name] : [])]),
    ...presets.map(({ name }) => name),
  ]
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

test('a configured command is started instead of the usual one, whichever program it is, and its arguments stay', () => {
  const replaced = [...adapters.map(({ name }) => ({ name, adapter: name, options: {} })), ...presets].flatMap(
    ({ name, adapter, options }) => {
      const kind = adapterNamed(adapter)
      const own = kind.options.safeParse({ ...options, command: '/opt/mine' })
      if (!own.success) return []
      const usual = kind.options.safeParse(options)
      const spec = { ...launch, ...(adapterNamed(adapter, own.data).can.model ? { model: 'a/large' } : {}) }
      const command = kind.command({ ...spec, options: own.data })
      expect([name, command.file]).toEqual([name, '/opt/mine'])
      if (usual.success) expect(command.args).toEqual(kind.command({ ...spec, options: usual.data }).args)
      return [name]
    },
  )
  // These start a program of Pawl's own.
  expect(adapters.map(({ name }) => name).filter((name) => !replaced.includes(name))).toEqual(['a2a', 'ollama', 'demo'])
  expect(replaced).toEqual(expect.arrayContaining(presets.map(({ name }) => name)))
})
