import { createRequire } from 'node:module'
import { join } from 'node:path'
import { notFound } from '../../src/domain/error.ts'
import { type WireName, wireNames } from '../../src/gateway/wire.ts'
import { fingerprint } from '../model-server/record.ts'
import { startModelServer } from '../model-server/server.ts'
import { installedAgents } from '../real-agents/install.ts'
import { provider, route, startStage, token } from './stage.ts'

/** A maker's own library, in the version that the tests are written for. */
export async function makersLibrary<T>(name: string): Promise<T> {
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
export async function startSdkStage() {
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
export type SdkStage = Awaited<ReturnType<typeof startSdkStage>>

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
