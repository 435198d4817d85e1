import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { notFound } from '../../src/domain/error.ts'
import { type WireName, wireNames } from '../../src/gateway/wires/wire.ts'
import { fingerprint } from '../model-server/record.ts'
import { startModelServer } from '../model-server/server.ts'
import { installedAgents } from '../real-agents/install.ts'
import { provider, route, startStage, token } from './stage.ts'

/** A maker's own library, in the version that the tests are written for. */
async function makersLibrary<T>(name: string): Promise<T> {
  const { modules } = await installedAgents()
  return createRequire(join(modules, 'here.js'))(name) as T
}

/** Models as their makers call them, so that each format is written as its newest models want it. */
const targets: Readonly<Record<WireName, string>> = {
  anthropic: 'claude-opus-4-6',
  'openai-responses': 'gpt-5',
  'openai-chat': 'other-maker',
  gemini: 'gemini-3-pro',
  ollama: 'gpt-oss:20b',
}

/** A gateway to the scripted server, for a client that knows nothing of it. The model `<scenario>.<format>` plays a scenario in a format. */
async function startSdkStage() {
  const server = await startModelServer()
  const baseOf = (scenario: string, wire: WireName) => `${server.base(scenario, wire)}${wire.startsWith('openai') ? '/v1' : ''}`
  const stage = await startStage(
    {
      models: wireNames.map((wire) => `text.${wire}`),
      routesOf(model) {
        const [scenario = '', name = ''] = model.split('.')
        const wire = wireNames.find((it) => it === name)
        if (wire === undefined) throw notFound(`There is no model "${model}".`)
        // An account of its own, so that one test's limit does not hold up another.
        return [route(model, provider(wire, wire, baseOf(scenario, wire), { account: model }), { target: targets[wire] })]
      },
    },
    { limits: { maxHoldMs: 0 } },
  )
  return {
    url: stage.url,
    token,
    /** The tokens that were billed for the last call, as the ledger counts them. */
    billed: () => stage.calls.at(-1)?.usage,
    async close() {
      await stage.close()
      await server.close()
    },
  }
}
type SdkStage = Awaited<ReturnType<typeof startSdkStage>>

/** A maker's library and a client made with it, at a stage for the tests of one file. */
export function sdkStage<Library, Client>(name: string, clientOf: (library: Library, url: string, key: string) => Client) {
  const here = {} as { stage: SdkStage; library: Library; client: Client; stranger: Client }
  beforeAll(async () => {
    const library = await makersLibrary<Library>(name)
    const stage = await startSdkStage()
    const { url } = stage
    Object.assign(here, { library, stage, client: clientOf(library, url, token), stranger: clientOf(library, url, 'wrong') })
  })
  afterAll(() => here.stage?.close())
  return here
}

/** What a library throws, as far as the tests look at it. */
export const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('nothing was thrown'),
    (error: unknown) => error as { status?: number; code?: string | null; message: string; headers?: Headers },
  )

/** A red dot. */
export const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
export const imageSeen = `I see 1 images: ${fingerprint(image)}`

/** What the model says when both results have reached it; its seal where the provider's format has one. */
export const bothSaid = (wire: WireName) =>
  `Both said: one | two. I had thought: ${wire === 'openai-chat' || wire === 'ollama' ? '' : 'scripted:Two at once.'}.`

/** What each format's provider counts: Ollama tells no cache. */
export const tokens = (wire: WireName) =>
  wire === 'ollama' ? { input: 120, cached: 0, output: 15 } : { input: 80, cached: 40, output: 15 }

export const placeSchema = {
  type: 'object',
  properties: { place: { type: 'string', description: 'Where.' }, count: { type: 'integer' } },
  required: ['place'],
} as const
export const emptySchema = { type: 'object', properties: {} } as const
export const firstInput = { place: 'here', count: 2 }
