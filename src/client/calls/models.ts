import type { CostQuery, CostView, PriceListView } from '../../domain/money/cost-view.ts'
import type { LimitView } from '../../domain/view/limit.ts'
import type { ModelView } from '../../domain/view/model.ts'
import type { ModelFiguresQuery, ModelFiguresView } from '../../domain/view/model-metrics.ts'
import type { Page } from '../../domain/view/view.ts'
import { api, type Wire } from '../transport/wire.ts'

/** Models, their limits, and what was spent on them. */
export interface ModelCalls {
  /** Accounts of model providers that are at a limit. */
  listLimits(): Promise<LimitView[]>
  /** Forgets that the accounts of an agent are at their limit. */
  clearLimits(agent: string): Promise<LimitView[]>
  /** Models that the settings list; `check` asks each provider. */
  listModels(options?: { check?: boolean | undefined }): Promise<ModelView[]>
  /** What was spent: today by agent, if nothing else is said. */
  listModelFigures(query?: ModelFiguresQuery): Promise<ModelFiguresView>
  listCosts(query?: CostQuery): Promise<CostView>
  /** What tokens are counted for, and where that comes from. */
  listPrices(): Promise<PriceListView>
}

export const modelCalls = ({ get, post }: Wire): ModelCalls => ({
  listLimits: async () => (await get<Page<LimitView>>(`${api}/limits`)).items,
  clearLimits: async (agent) => (await post<Page<LimitView>>(`${api}/limits/clear`, { agent }, false)).items,
  listModels: async ({ check = false } = {}) =>
    (await get<Page<ModelView>>(`${api}/models`, check ? { check: 'true' } : {})).items,
  listModelFigures: (query = {}) => get(`${api}/models/figures`, { ...query }),
  listCosts: (query = {}) => get(`${api}/costs`, { ...query }),
  listPrices: () => get(`${api}/prices`),
})
