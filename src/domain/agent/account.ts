import { namesSecret } from '../base/secret-names.ts'
import type { ResolvedAgent } from './agent-config.ts'
import { findModel, type ProviderSettings } from './models.ts'

/**
 * Whose limit the runs of an agent count against: agents of one account cool down together. Made of the program, the endpoint, and where its key or login comes from;
 * never of the key itself. Two agents that find the same key in different places count as two, which costs one more refused run and no waiting for nothing.
 */
export function accountOf(agent: ResolvedAgent): string {
  const { model, models, fallbackModels = [], gateway } = agent
  const isListed = model !== undefined && gateway !== false && findModel(models, model) !== undefined
  const served = (isListed ? [model, ...fallbackModels] : fallbackModels).flatMap((name) => providerOf(agent, name) ?? [])
  // One that others stand in for is at its limit when all of them are.
  return [...new Set(isListed ? served : [ownAccount(agent), ...served])].join(' > ')
}

function providerOf({ models }: ResolvedAgent, model: string): string | undefined {
  const provider = findModel(models, model)?.provider
  const settings = provider === undefined ? undefined : models?.providers[provider]
  return provider === undefined || !settings ? undefined : accountOfProvider(provider, settings)
}

/** Agents of one provider cool down together, whatever their programs are. */
export function accountOfProvider(name: string, { baseUrl, key }: Pick<ProviderSettings, 'baseUrl' | 'key'>): string {
  const source = key && ('env' in key ? `$${key.env}` : 'file' in key ? key.file : `secret ${key.secret}`)
  return [`provider ${name}`, placeOf(baseUrl), source].filter((part) => part !== undefined).join(' · ')
}

function ownAccount({ name, adapter, baseUrl, auth, env }: ResolvedAgent): string {
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
