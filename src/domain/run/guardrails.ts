import { modelFits } from '../money/prices.ts'

/** How often an agent may go round in a circle before it is stopped. 0 switches a guardrail off. */
export interface Guardrails {
  /** The same tool fails with the same error, with nothing that succeeds in between. */
  readonly sameError: number
  /** The very same call, one after the other. */
  readonly sameCall: number
  /** Turns without a word and without a tool. */
  readonly silentTurns: number
  /** Turns in which it only wrote its list of things to do. Only a warning. */
  readonly todoOnly: number
  /** Events in each second, for ten seconds. */
  readonly eventsPerSecond: number
}

export const defaultGuardrails: Guardrails = { sameError: 5, sameCall: 5, silentTurns: 5, todoOnly: 3, eventsPerSecond: 1_000 }

/** For everybody, and for models whose name fits a pattern. */
export interface GuardrailSettings extends Guardrails {
  readonly models: Readonly<Record<string, Partial<Guardrails>>>
}

/** What counts for a model: of the patterns that fit, longer ones win over shorter ones. */
export function guardrailsFor({ models, ...common }: GuardrailSettings, model: string | undefined): Guardrails {
  const fitting = Object.entries(models)
    .filter(([pattern]) => model !== undefined && modelFits(pattern, model))
    .sort(([one], [other]) => one.length - other.length)
  return Object.assign({ ...common }, ...fitting.map(([, own]) => own))
}
