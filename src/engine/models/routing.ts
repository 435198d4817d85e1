import { accountOfProvider } from '../../domain/account.ts'
import {
  findModel,
  type ListedModel,
  type ModelTable,
  modelNames,
  type ProviderSettings,
  unlistedModel,
  type WireName,
  withoutMode,
} from '../../domain/models.ts'
import { isFree, wireOf } from '../../gateway/kinds.ts'
import type { Provider, Route, Routing } from '../../gateway/route.ts'

export interface RoutingParts {
  /** What the settings list. */
  readonly table: ModelTable | undefined
  readonly fallbackModels: readonly string[]
  /** The format that the program speaks, where that is known. */
  readonly wire: WireName | undefined
  /** Serves whatever is not listed. Undefined: that is refused. */
  readonly otherwise: Provider | undefined
  keyOf(provider: string, settings: ProviderSettings): () => Promise<string | undefined>
  /** The most that a model writes in one answer, where the price list knows. */
  mostOf?(model: string): number | undefined
}

/** Where each model is asked for: whole names only, first the model's own provider, then those that stand in for it. */
export function createRouting(parts: RoutingParts): Routing {
  const { table, otherwise } = parts
  const names = table ? modelNames(table) : []
  const providers = new Map<string, Provider>()
  const fallback = parts.fallbackModels.flatMap((name) => findModel(table, name) ?? [])

  function providerNamed(name: string): Provider {
    const known = providers.get(name)
    if (known) return known
    const settings = table!.providers[name]!
    const provider: Provider = {
      name,
      wire: wireOf(settings, parts.wire),
      baseUrl: settings.baseUrl,
      key: parts.keyOf(name, settings),
      account: accountOfProvider(name, settings),
      isFree: isFree(settings.kind),
    }
    providers.set(name, provider)
    return provider
  }
  const routeTo = ({ name, provider, target = name, maxOutputTokens }: ListedModel): Route => ({
    model: name,
    provider: providerNamed(provider),
    target,
    maxOutputTokens: maxOutputTokens ?? parts.mostOf?.(target) ?? parts.mostOf?.(name),
  })

  return {
    models: names,
    routesOf(asked) {
      const listed = findModel(table, asked)
      const others = fallback.filter(({ name }) => name !== listed?.name).map(routeTo)
      if (listed) return [routeTo(listed), ...others]
      if (!otherwise) throw unlistedModel(asked, names)
      const name = withoutMode(asked)
      return [{ model: name, provider: otherwise, target: name, maxOutputTokens: parts.mostOf?.(name) }, ...others]
    },
  }
}
