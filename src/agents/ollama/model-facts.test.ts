import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startModelServer } from '../../../test/model-server/server.ts'
import type { AgentEvent } from '../../domain/event/event.ts'
import type { LaunchSpec, ProbePlace } from '../port.ts'
import { learnModel } from './model-facts.ts'
import { OllamaOptions } from './options.ts'
import { probeOllama } from './probe.ts'
import { ollamaServer } from './server.ts'

const server = await startModelServer()
afterAll(() => server.close())

async function learn(changes: Partial<LaunchSpec<OllamaOptions>>, options: Record<string, unknown> = {}) {
  const told: AgentEvent[] = []
  const place = { prompt: 'llama3.2', workspace: '/w', home: '/h', extraArgs: [] }
  const spec = { ...place, options: OllamaOptions.parse(options), endpoint: server.url, ...changes }
  const learned = await learnModel(spec, { emit: (event) => void told.push(event), signal: new AbortController().signal })
  return { learned, told: told.map(({ data }) => ('text' in data ? data.text : '')) }
}

/** An address at which nobody listens. */
async function nowhere(): Promise<string> {
  const taken = createServer()
  await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done))
  const { port } = taken.address() as AddressInfo
  await new Promise((done) => taken.close(done))
  return `http://127.0.0.1:${port}`
}

test('without a model it is refused with a sentence that lists those of the server, and the prompt is not taken for one', async () => {
  const { learned } = await learn({ model: undefined })
  expect(learned).toMatchObject({
    refused: { category: 'bad_config', message: expect.stringMatching(/needs a model.*--model NAME.*scripted-model, /s) },
  })
  expect(server.requests.map(({ path }) => path)).toEqual(['/api/tags'])
})

test('a server that is not there is told of with how to start it', async () => {
  const endpoint = await nowhere()
  const refused = {
    category: 'network',
    message: `The Ollama server at ${endpoint} does not answer (ECONNREFUSED). Start it with "ollama serve", or correct the agent's baseUrl.`,
  }
  expect((await learn({ model: 'llama3.2', endpoint })).learned).toEqual({ refused })
  expect((await learn({ model: undefined, endpoint })).learned).toMatchObject({
    refused: { message: expect.stringContaining('ollama serve') },
  })
})

test('a model that is not there is refused with the command that gets it', async () => {
  const message = expect.stringMatching(
    /does not have the model "scripted-modle".*did you mean "scripted-model".*"ollama pull scripted-modle"/s,
  )
  expect((await learn({ model: 'scripted-modle' })).learned).toMatchObject({ refused: { category: 'bad_config', message } })
})

test('with the option pull it is pulled, and how far that is is told', async () => {
  const { learned, told } = await learn({ model: 'llama3.2', endpoint: server.base('text', 'pull') }, { pull: true })
  expect(learned).toMatchObject({ facts: { canUseTools: true, window: 32_768 } })
  expect(told).toEqual(
    expect.arrayContaining([
      'llama3.2: pulling manifest',
      'llama3.2: pulling 5f0d: 20 % of 2000 MB',
      'llama3.2: pulling 5f0d: 100 % of 2000 MB',
    ]),
  )
  const unknown = await learn({ model: 'nowhere/x' }, { pull: true })
  expect(unknown.learned).toMatchObject({
    refused: { category: 'bad_config', message: expect.stringContaining('file does not exist') },
  })
})

test.each([
  ['what its Modelfile says', 'scripted-tuned', {}, 8_192],
  ['what the model can, if that is little', 'scripted-small', {}, 4_096],
  ['a usual size, if the model can more', 'scripted-model', {}, 32_768],
  ['what the options say, as far as the model can', 'scripted-small', { contextTokens: 9_000 }, 4_096],
])('the window is %s', async (_, model, options, window) => {
  expect((await learn({ model }, options)).learned).toMatchObject({ facts: { window } })
})

test('who serves a listed model is not asked: it may be no Ollama', async () => {
  const before = server.requests.length
  expect((await learn({ model: 'fast', servedModels: ['fast'] })).learned).toMatchObject({ facts: { canUseTools: true } })
  expect(server.requests).toHaveLength(before)
})

test.each([
  [
    'well with its model',
    {},
    'scripted-model',
    { healthy: true, version: '0.20.0', detail: expect.stringContaining('scripted-model is there') },
  ],
  ['well with a model whose tag is left out', {}, 'scripted-small', { healthy: true }],
  ['unwell without the model', {}, 'llama3.2', { healthy: false, fix: 'Get it: ollama pull llama3.2' }],
  ['well if the model will be pulled', { pull: true }, 'llama3.2', { healthy: true }],
  ['unwell while no model is chosen', {}, undefined, { healthy: false, fix: expect.stringContaining('--model NAME') }],
])('it is %s', async (_, options, model, health) => {
  const found = await probeOllama(OllamaOptions.parse(options), { path: '', endpoint: server.url, model })
  expect(found).toMatchObject({ installed: true, ...health })
})

test('it is unwell, though installed, without a server', async () => {
  const found = await probeOllama(OllamaOptions.parse({}), { path: '', endpoint: await nowhere(), model: 'llama3.2' })
  expect(found).toMatchObject({ installed: true, healthy: false, fix: expect.stringContaining('ollama serve') })
})

test('it is not installed where nobody has it or asked for it', async () => {
  const nobody = ollamaServer(await nowhere())
  const folder = await mkdtemp(join(tmpdir(), 'pawl-ollama-'))
  const looked = (place: Partial<ProbePlace>) => probeOllama(OllamaOptions.parse({}), { path: folder, ...place }, nobody)
  try {
    expect(await looked({})).toMatchObject({ installed: false, healthy: false, fix: expect.stringContaining('install') })
    expect(await looked({ model: 'of-somebody-else' })).toMatchObject({ installed: true })
    expect(await looked({ endpoint: nobody.url })).toMatchObject({ installed: true })
    await writeFile(join(folder, 'ollama'), '#!/bin/sh\n', { mode: 0o755 })
    expect(await looked({})).toMatchObject({ installed: true, fix: expect.stringContaining('ollama serve') })
  } finally {
    await rm(folder, { recursive: true })
  }
})
