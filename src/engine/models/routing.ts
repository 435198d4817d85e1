import { accountOfProvider } from '../../domain/agent/account.ts'
import {
  findModel,
  forbiddenModel,
  type ListedModel,
  type ModelTable,
  modelNames,
  type ProviderSettings,
  unlistedModel,
  type WireName,
  withoutMode,
} from '../../domain/agent/models.ts'
import type { Provider, Route, Routing } from '../../gateway/base/route.ts'
import { isFree, wireOf } from '../../gateway/provider/kinds.ts'

export interface RoutingParts {
  /** What the settings list. */
  readonly table: ModelTable | undefined
  /** The listed models that it may ask for, by any of their names. */
  readonly allowed: readonly string[]
  readonly fallbackModels: readonly string[]
  /** The format that the program speaks, where that is known. */
  readonly wire: WireName | undefined
  /** Whether providers may use tools of their own, where their settings leave it open. */
  readonly serverTools: boolean
  /** Serves whatever it may not ask for among those that are listed. Undefined: that is refused. */
  readonly otherwise: Provider | undefined
  keyOf(provider: string, settings: ProviderSettings): () => Promise<string | undefined>
  /** The most that a model writes in one answer, where the price list knows. */
  mostOf?(model: string): number | undefined
}

/** Where each model is asked for: whole names only, first the model's own provider, then those that stand in for it. */
export function createRouting(parts: RoutingParts): Routing {
  const { table, otherwise } = parts
  const served = new Set([...parts.allowed, ...parts.fallbackModels].flatMap((name) => findModel(table, name)?.name ?? []))
  const names = modelNames({
    models: Object.fromEntries(Object.entries(table?.models ?? {}).filter(([name]) => served.has(name))),
  })
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
      serverTools: settings.serverTools ?? parts.serverTools,
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
      const found = findModel(table, asked)
      const listed = found && served.has(found.name) ? found : undefined
      const others = fallback.filter(({ name }) => name !== listed?.name).map(routeTo)
      if (listed) return [routeTo(listed), ...others]
      if (!otherwise) throw found ? forbiddenModel(asked, names) : unlistedModel(asked, names)
      const name = withoutMode(asked)
      return [{ model: name, provider: otherwise, target: name, maxOutputTokens: parts.mostOf?.(name) }, ...others]
    },
  }
}
