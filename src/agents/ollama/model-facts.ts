import { didYouMean } from '../../domain/base/nearest.ts'
import type { LaunchSpec, Turn, Verdict } from '../port.ts'
import type { OllamaOptions } from './options.ts'
import type { ModelFacts } from './program/settings.ts'
import { type OllamaServer, ollamaServer, type Shown } from './server.ts'

/** A larger one may be more than the machine's memory holds, so it is asked for by name only. */
const usualWindow = 32_768

export type Learned = { readonly facts: ModelFacts; readonly note?: string | undefined } | { readonly refused: Refused }
export type Refused = Pick<Verdict, 'category' | 'message'>

/** What there is to know of the model before it is asked anything. Asked from outside of the walls, where the server is; a missing model is pulled from here too. */
export async function learnModel(
  { model, options, endpoint, servedModels, replayed }: LaunchSpec<OllamaOptions>,
  turn: Pick<Turn, 'emit' | 'signal'>,
): Promise<Learned> {
  // Who serves a listed model is the gateway's business: it may be no Ollama at all.
  if (servedModels && model !== undefined) return { facts: factsOf(undefined, options) }
  const server = ollamaServer(endpoint)
  if (model === undefined) return { refused: await needsModel(server) }
  let shown = await server.show(model)
  if ('status' in shown && shown.status === 404 && options.pull && !replayed) {
    const pulled = await server.pull(
      model,
      (text) => turn.emit({ type: 'agent.stderr', data: { text: `${model}: ${text}` } }),
      turn.signal,
    )
    if (!('value' in pulled)) return { refused: notPulled(server, model, pulled) }
    shown = await server.show(model)
  }
  if (replayed && !('value' in shown)) return { facts: factsOf(undefined, options) }
  if ('unreachable' in shown) return { refused: { category: 'network', message: notRunning(server, shown.unreachable) } }
  if ('status' in shown)
    return shown.status === 404 ? { refused: await missing(server, model) } : { facts: factsOf(undefined, options) }
  const facts = factsOf(shown.value, options)
  const note = facts.canUseTools ? undefined : `${model} cannot use tools: it can answer, but neither read nor change anything.`
  return { facts, note }
}

function factsOf(shown: Shown | undefined, { contextTokens }: OllamaOptions): ModelFacts {
  const most = shown?.contextLength ?? Number.POSITIVE_INFINITY
  const wanted = contextTokens ?? shown?.numCtx ?? Math.min(most, usualWindow)
  const { capabilities } = shown ?? {}
  return {
    window: Math.min(wanted, most),
    // Servers before 0.6 do not tell, and what they serve is tried.
    canUseTools: capabilities?.includes('tools') ?? true,
    canSee: capabilities?.includes('vision') ?? false,
  }
}

export const notRunning = ({ url }: OllamaServer, why: string) =>
  `The Ollama server at ${url} does not answer (${why}). Start it with "ollama serve", or correct the agent's baseUrl.`

async function needsModel(server: OllamaServer): Promise<Refused> {
  const { names, why } = await namesOf(server)
  if (why !== undefined)
    return { category: 'bad_config', message: `Ollama needs a model, and none is chosen: name one (--model NAME). ${why}` }
  return {
    category: 'bad_config',
    message:
      names.length === 0
        ? `Ollama needs a model, and none is chosen; the server at ${server.url} has none yet. Get one ("ollama pull NAME") and name it (--model NAME).`
        : `Ollama needs a model, and none is chosen: name one (--model NAME). The server at ${server.url} has ${names.join(', ')}.`,
  }
}

async function missing(server: OllamaServer, model: string): Promise<Refused> {
  const { names } = await namesOf(server)
  const has = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`
  const message = `The Ollama server at ${server.url} does not have the model "${model}"; ${has}${didYouMean(model, names)} Get it with "ollama pull ${model}", or set the agent's option pull.`
  return { category: 'bad_config', message }
}

function notPulled(
  server: OllamaServer,
  model: string,
  why: { status: number; said: string } | { unreachable: string },
): Refused {
  const reason = 'said' in why ? why.said : why.unreachable
  // A name that no registry knows is known to none the next time either.
  const category = 'said' in why && /file does not exist|not found|invalid model/i.test(why.said) ? 'bad_config' : 'network'
  return { category, message: `The model "${model}" could not be pulled by the server at ${server.url}: ${reason}.` }
}

async function namesOf(server: OllamaServer): Promise<{ names: string[]; why?: string }> {
  const found = await server.models()
  if ('value' in found) return { names: found.value.slice(0, 50) }
  return { names: [], why: 'unreachable' in found ? notRunning(server, found.unreachable) : found.said }
}
