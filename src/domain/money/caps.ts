import type { Budget, ResolvedAgent } from '../agent/agent-config.ts'

/** What a task says about how much it may use, how long it may take and how often it is tried. */
export interface Caps {
  readonly budget?: { readonly [K in keyof Budget]?: number | undefined } | undefined
  /** 0 means none. */
  readonly timeoutMs?: number | undefined
  readonly retry?: { readonly [K in keyof ResolvedAgent['retry']]?: ResolvedAgent['retry'][K] | undefined } | undefined
}

/** The agent held to what the task says; where it says nothing, its own settings count. */
export function withCaps(agent: ResolvedAgent, { budget, timeoutMs, retry }: Caps): ResolvedAgent {
  return {
    ...agent,
    ...(budget === undefined ? {} : { budget: { ...agent.budget, ...present(budget) } }),
    ...(timeoutMs === undefined ? {} : { timeoutMs: timeoutMs === 0 ? null : timeoutMs }),
    ...(retry === undefined ? {} : { retry: { ...agent.retry, ...present(retry) } }),
  }
}

/** The agent with no more to spend than that: whoever goes on for another spends what is the task's. How many turns it needs is its own matter. */
export function withinBudget(agent: ResolvedAgent, most: Budget): ResolvedAgent {
  const caps = (['usd', 'tokens', 'wallMs', 'perRunUsd'] as const).flatMap((cap) => {
    const value = Math.min(agent.budget[cap] ?? Number.POSITIVE_INFINITY, most[cap] ?? Number.POSITIVE_INFINITY)
    return value === Number.POSITIVE_INFINITY ? [] : [[cap, value] as const]
  })
  return { ...agent, budget: { ...agent.budget, ...Object.fromEntries(caps) } }
}

/** The parts of a budget that are larger than those in force. What has no cap cannot be raised. */
export const raisedIn = (wanted: Caps['budget'], inForce: Budget): string[] =>
  Object.entries(wanted ?? {}).flatMap(([cap, value]) => {
    const own = inForce[cap as keyof Budget]
    return value !== undefined && own !== undefined && value > own ? [cap] : []
  })

const present = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]: NonNullable<T[K]> }
