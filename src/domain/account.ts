import type { ResolvedAgent } from './agent-config.ts'
import { namesSecret } from './redact/names.ts'

/**
 * Whose limit the runs of an agent count against: agents of one account cool down together. Made of the program, the endpoint, and where its key or login comes from;
 * never of the key itself. Two agents that find the same key in different places count as two, which costs one more refused run and no waiting for nothing.
 */
export function accountOf({ name, adapter, baseUrl, auth, env }: ResolvedAgent): string {
  const keyed = Object.keys(env.set).filter((variable) => auth?.env?.includes(variable) || namesSecret(variable))
  const sources = [
    // A key that stands in the agent's own settings is nobody else's as far as we can tell without looking at it. Nor is the login of a program that we do not know.
    ...(keyed.length > 0 || (adapter === 'custom' && !auth) ? [`agent ${name}`] : []),
    ...(auth?.env ?? []).map((variable) => `$${variable}`),
    ...(auth?.file === undefined ? [] : [auth.file]),
  ]
  return [adapter, baseUrl === undefined ? undefined : placeOf(baseUrl), sources.join(' ') || 'login']
    .filter((part) => part !== undefined)
    .join(' · ')
}

/** An address may carry a name and a password; neither belongs into a list. */
function placeOf(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined
  return url ? `${url.origin}${url.pathname.replace(/\/+$/, '')}` : 'another endpoint'
}
