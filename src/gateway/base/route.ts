import type { WireName } from '../wires/wire.ts'

/** Where a model is served. */
export interface Provider {
  readonly name: string
  readonly wire: WireName
  /**
   * As the maker's own library takes it, without a slash at its end: with the version (`/v1`) for the OpenAI formats, without one for all others. A client's path may have
   * that version or not.
   */
  readonly baseUrl: string
  /** Asked for each call: keys are renewed. Undefined where none is needed. */
  key(): Promise<string | undefined>
  /** It asks no money, unless the settings name a price: a server of one's own. */
  readonly isFree?: boolean | undefined
  /** It may do things itself while it answers, such as a search: those reach other machines past the run's rules, and cost more than tokens. */
  readonly serverTools?: boolean | undefined
  /** Whose limits count together: cooldowns are kept by it. */
  readonly account: string
}

/** A model as clients call it, and what is asked for in its place. */
export interface Route {
  /** The name that clients use, without a mode. */
  readonly model: string
  readonly provider: Provider
  /** The provider's own name for it. */
  readonly target: string
  /** The most it may write in one answer, where the settings or the price list know. */
  readonly maxOutputTokens?: number | undefined
}

/** Finds the route of a model for one run. */
export interface Routing {
  /** The routes to try, in their order, the first for the model itself. Throws a `PawlError` (`not_found`) that lists what there is. */
  routesOf(model: string): readonly Route[]
  /** What a client may choose from. */
  readonly models: readonly string[]
}
