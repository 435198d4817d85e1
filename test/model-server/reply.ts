/** What the scripted model answers, free of any wire format. */
export interface Reply {
  readonly id: string
  readonly model: string
  readonly createdAt: Date
  /** What it thinks before it speaks; nothing if empty. */
  readonly thinking: string
  readonly text: string
  readonly calls: readonly ToolCall[]
  readonly usage: Usage
}

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly namespace?: string
  readonly kind: 'function' | 'freeform' | 'local_shell'
  readonly args: Record<string, unknown>
}

/** `input` counts everything that went in; the cache figures say how much of it was read from or written to the cache. */
export interface Usage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
}

/** The ways a provider refuses. Each wire format knows the status, the type and the words its provider uses. */
export const failureKinds = [
  'rate-limit',
  'usage-limit',
  'auth',
  'forbidden',
  'not-found',
  'context-overflow',
  'credit',
  'server-error',
  'overloaded',
] as const
export type FailureKind = (typeof failureKinds)[number]

export interface Failure {
  readonly kind: FailureKind
  readonly status?: number | undefined
  readonly type?: string | undefined
  readonly message?: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly retryAfterSeconds?: number | undefined
  readonly resetsAt: Date | undefined
}

/** A refusal in the words of one wire format. */
export interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** What a provider signs its thoughts with, and wants back with them. Base 64: Google's are. */
export const sealOf = ({ thinking }: Reply) => Buffer.from(`scripted:${thinking}`).toString('base64')

/** Words with their spaces: what a model streams piece by piece. */
export const pieces = (text: string): string[] => text.match(/\S+\s*|\s+/g) ?? []

export const epochSeconds = (date: Date) => Math.round(date.getTime() / 1000)
export const secondsUntil = (date: Date) => Math.max(1, Math.ceil((date.getTime() - Date.now()) / 1000))

/** The headers every provider shares. */
export function failureHeaders(failure: Failure): Record<string, string> {
  const wait = failure.retryAfterSeconds ?? (failure.resetsAt && secondsUntil(failure.resetsAt))
  return { ...(wait === undefined ? {} : { 'retry-after': String(wait) }), ...failure.headers }
}
