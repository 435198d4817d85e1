import type { Principal, Right } from '../domain/auth/role.ts'

/** A way in that speaks a protocol of its own and is reached through the HTTP surface: behind its gate, its limits and its access log. */
export interface Mount {
  readonly routes: readonly MountedRoute[]
  /** Lets go of what it holds; called when the HTTP surface stops. */
  stop?(): void
}

export interface MountedRoute {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'PUT'
  /** As the router writes them: `/a2a/tasks/:id`. */
  readonly path: string
  /** What whoever asks must have at least; what an operation needs beyond it the mount asks for itself. */
  readonly right: Right
  /** 1 MiB if left out. */
  readonly maxBodyBytes?: number | undefined
  /** Types of bodies beside JSON that it takes. */
  readonly bodyTypes?: readonly string[] | undefined
  handle(call: MountedCall): Promise<Response>
  /** A refusal of the gate, or one that was thrown, in the protocol's own form. Status and headers stay. */
  refuse?: ((refusal: MountedRefusal) => Promise<{ readonly type: string; readonly body: unknown }>) | undefined
  /** What whoever shows no good token reads in `WWW-Authenticate`, given our origin; "Bearer" if left out. */
  challenge?: ((origin: string) => string) | undefined
}

export interface MountedCall {
  readonly request: Request
  /** Under which whoever asks has reached us, for addresses that they are to be told: `https://pawl.example`. */
  readonly origin: string
  /** What the path holds in the places of its names. */
  readonly params: Readonly<Record<string, string>>
  /** Undefined on open routes alone. */
  readonly principal: Principal | undefined
  /** Aborts when whoever asks goes away before the answer is whole. */
  readonly signal: AbortSignal
  /**
   * Answers with frames as server-sent events, as fast as the reader takes them, until they end. Heartbeats, cutting readers who may not come in any more, and
   * stopping are the HTTP surface's.
   */
  stream(frames: AsyncIterable<string>, headers?: Readonly<Record<string, string>>): Promise<Response>
}

export interface MountedRefusal {
  readonly status: number
  readonly code: string
  readonly detail: string
}
