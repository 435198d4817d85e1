/** Why a turn with a remote agent could not be had. `code` is one of the categories of outcomes. */
export class Failure extends Error {
  readonly code: string
  readonly retryAfterMs: number | undefined
  /** Worth another try in a moment: what was asked may not even have arrived. */
  readonly isPassing: boolean

  constructor(code: string, message: string, more: { retryAfterMs?: number | undefined; isPassing?: boolean } = {}) {
    super(message)
    this.code = code
    this.retryAfterMs = more.retryAfterMs
    this.isPassing = more.isPassing ?? false
  }
}

export const sentenceOf = (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown))

/** What went wrong often stands below what is said of it. */
export function reasonOf(thrown: unknown): string {
  const { code, message, cause } = thrown instanceof Error ? (thrown as NodeJS.ErrnoException & { cause?: unknown }) : {}
  if (cause instanceof Error) return reasonOf(cause)
  return code ?? message ?? String(thrown)
}
