/** What a thread can be asked for. */
export interface Jobs {
  /** Refuses a JSON schema that cannot be checked. */
  assertSchema: { readonly input: { readonly schema: string }; readonly output: null }
  /** Holds an answer against a JSON schema: the JSON in it, or what is wrong with it. */
  checkAnswer: {
    readonly input: { readonly schema: string; readonly text: string }
    readonly output: { readonly text: string } | { readonly fault: string }
  }
  /** Compiles the pattern that the following jobs search for. */
  search: { readonly input: { readonly pattern: string; readonly ignoreCase: boolean }; readonly output: null }
  /** Finds that pattern in the lines of a file. */
  lines: { readonly input: Searched; readonly output: Found }
}

export interface Searched {
  readonly bytes: Uint8Array
  /** How many lines to show at most, with how many before and after each. */
  readonly most: number
  readonly before: number
  readonly after: number
}

export interface Found {
  readonly hits: number
  readonly shown: readonly ShownLine[]
}

export interface ShownLine {
  readonly number: number
  readonly isHit: boolean
  /** Without the rest of a line that is very long. */
  readonly text: string
}
