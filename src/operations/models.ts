import type { ModelTable, ProviderSettings, WireName } from '../domain/agent/models.ts'
import { PawlError } from '../domain/error.ts'
import type { Prices } from '../domain/money/prices.ts'
import type { ModelView } from '../domain/view/model.ts'
import { type KeyParts, keyReader } from '../engine/models/provider-key.ts'
import { type Reach, reachProvider } from '../engine/models/reach.ts'
import { isFree, wireOf } from '../gateway/provider/kinds.ts'

export interface ModelVerbs {
  /** The models that the settings list. `check` asks each provider, which takes a moment. */
  listModels(options: { check: boolean }): Promise<ModelView[]>
}

export interface ModelVerbParts extends KeyParts {
  readonly modelTable: ModelTable
  readonly prices: Prices
}

export function modelVerbs(parts: ModelVerbParts): ModelVerbs {
  const { modelTable: table, prices } = parts
  return {
    async listModels({ check }) {
      const looks = Object.entries(table.providers).map(
        async ([name, settings]) => [name, await look(name, settings, check)] as const,
      )
      const seen = new Map(await Promise.all(looks))
      return Object.entries(table.models).map(([name, model]): ModelView => {
        const settings = table.providers[model.provider]!
        const { key, reach } = seen.get(model.provider)!
        const target = model.target ?? name
        return {
          name,
          aliases: [...(model.aliases ?? [])],
          provider: model.provider,
          kind: settings.kind,
          formats: formatsOf(settings),
          target,
          maxOutputTokens: model.maxOutputTokens ?? null,
          priced: isFree(settings.kind) || prices.of(name) !== undefined || prices.of(target) !== undefined,
          key,
          reach,
        }
      })
    },
  }

  async function look(
    name: string,
    settings: ProviderSettings,
    check: boolean,
  ): Promise<{ key: ModelView['key']; reach: Reach | null }> {
    const read = keyReader(name, settings.key, { agent: '', user: '' }, parts)
    const found = await read().catch((error: unknown) => {
      if (error instanceof PawlError && error.code === 'unavailable') return error.message
      throw error
    })
    if (typeof found === 'string') return { key: 'missing', reach: check ? { ok: false, detail: found } : null }
    return { key: found ? 'set' : 'none', reach: check ? await reachProvider(settings, found?.value) : null }
  }
}

/** A kind that speaks several is spoken to in the one that its client speaks. */
export const formatsOf = (settings: ProviderSettings): WireName[] => [
  ...new Set([wireOf(settings, 'openai-responses'), wireOf(settings, 'openai-chat')]),
]
