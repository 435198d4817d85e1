import type { Clock } from '../base/clock.ts'
import { invalid } from '../domain/error.ts'
import type { ModelFiguresQuery, ModelFiguresView } from '../domain/view/model-metrics.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import type { Db } from '../store/database.ts'
import { sumModelCalls } from '../store/model-figures.ts'

export interface ModelFigureVerbs {
  /** How fast the models answered, how often not, and how much came from their caches: in the last day, if nothing else is said. */
  listModelFigures(query: ModelFiguresQuery): Promise<ModelFiguresView>
}

const dayMs = 86_400_000
const most = 500

export function modelFigureVerbs({ db, clock }: { db: Db; clock: Clock }): ModelFigureVerbs {
  return {
    async listModelFigures({ since, until }) {
      const from = since === undefined ? new Date(clock.now() - dayMs) : new Date(since)
      const to = until === undefined ? undefined : new Date(until)
      if (to && to <= from) throw invalid('The end of the time must come after its beginning.')
      const items = await translateDbErrors(() => sumModelCalls(db, { since: from, until: to }, most))
      return { since: from.toISOString(), until: to?.toISOString() ?? null, items }
    },
  }
}
