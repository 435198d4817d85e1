/** What the loop is started with, as a file in its home. The address of the model comes by its environment: it is known inside the walls only. */
export interface Settings {
  readonly model: string
  readonly system: string
  readonly session: { readonly id: string; readonly resume: boolean }
  /** Where conversations lie. */
  readonly folder: string
  readonly workspace: string
  /** The only places where files are read and written. Left out: the walls decide that. */
  readonly confinedTo?: readonly string[] | undefined
  /** Which of its own tools the model is offered. */
  readonly tools: readonly string[]
  /** Whose tools are served at the door, and where there: Pawl's own, and those of the user. */
  readonly servers: readonly { readonly name: string; readonly path: string }[]
  /** Of those, the ones that are never offered. */
  readonly withoutMcp: readonly string[]
  readonly maxTurns?: number | undefined
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined
  readonly think?: boolean | string | undefined
  /** Passed to the model as they are: temperature, seed and the like. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** Where the model is asked, and Pawl's own door. */
export interface Addresses {
  readonly model: string
  readonly door?: string | undefined
  readonly token?: string | undefined
}

/** What is known of the model, told with each turn. */
export interface ModelFacts {
  /** How many tokens it may hold at once. */
  readonly window: number
  readonly canUseTools: boolean
  readonly canSee: boolean
}
