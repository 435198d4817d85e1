import { ServerCallContext, type ServerCallContextOptions, type User } from '@a2a-js/sdk/server'
import { localUser, mayUse, type Principal, type Right } from '../../domain/auth/role.ts'
import type { TraceContext } from '../../domain/base/trace-context.ts'
import { denied } from '../../domain/error.ts'
import type { Caller } from '../../operations/runtime.ts'

/** Whoever was let in by the gate, as the SDK hands them from a transport to the handler. */
export class LetIn implements User {
  readonly principal: Principal
  readonly isAuthenticated = true

  constructor(principal: Principal) {
    this.principal = principal
  }

  get userName(): string {
    return this.principal.user
  }
}

interface CallOptions extends Omit<ServerCallContextOptions, 'user' | 'state'> {
  /** Aborts when whoever calls goes away: then nobody waits for an answer. */
  readonly signal?: AbortSignal | undefined
  /** The span of whoever calls. */
  readonly trace?: TraceContext | undefined
}

const signalKey = 'pawl.signal'
const traceKey = 'pawl.trace'
const never = new AbortController().signal

/** Every transport makes its calls with this, so that the handler knows who calls. */
export const callOf = (principal: Principal, { signal = never, trace, ...options }: CallOptions = {}) =>
  new ServerCallContext({
    ...options,
    user: new LetIn(principal),
    state: new Map<string, unknown>([
      [signalKey, signal],
      [traceKey, trace],
    ]),
  })

export const signalOf = ({ state }: ServerCallContext) => state.get(signalKey) as AbortSignal

export const traceIn = ({ state }: ServerCallContext) => state.get(traceKey) as TraceContext | undefined

/** Refuses whoever may not do it; answers who it is. Nobody at all may do nothing. */
export function callerWith(right: Right, { user }: ServerCallContext): Caller {
  if (!(user instanceof LetIn)) throw denied('This call needs a token: send "Authorization: Bearer <token>".')
  const { user: name, token, standing } = user.principal
  if (!mayUse(right, standing))
    throw denied(`This is not for a token of the ${standing} kind or role; it needs the right "${right}".`)
  return { by: name === localUser ? 'a2a' : name, user: name, token, standing }
}
