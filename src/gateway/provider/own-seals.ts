import type { ModelAnswer, ModelEvent } from '../wires/model-event.ts'
import type { ModelRequest, Part } from '../wires/model-request.ts'

// Two providers may speak one format and know nothing of each other's seals: whoever gave one stands in it, as `<format>@<provider>:<words>`.

/** The request with those seals that this provider gave, in its format's words; all others stay as they are, and are not shown to it. */
export function withOwnSeals(request: ModelRequest, provider: string): ModelRequest {
  const own = (seal: string) => {
    const given = /^([\w-]+)@([^:]*):/.exec(seal)
    return given && given[2] === nameOf(provider) ? `${given[1]}:${seal.slice(given[0].length)}` : seal
  }
  const messages = request.messages.map((message) =>
    message.parts.some(isSealed) ? { ...message, parts: message.parts.map((part) => resealed(part, own)) } : message,
  )
  return { ...request, messages }
}

/** What a provider answers, with its name in its seals. */
export function namedSeals(provider: string) {
  const named = (seal: string) => seal.replace(/^([\w-]+):/, `$1@${nameOf(provider)}:`)
  return {
    event(event: ModelEvent): ModelEvent {
      if (event.type !== 'thinking_seal' && event.type !== 'tool_call') return event
      return event.seal === undefined ? event : { ...event, seal: named(event.seal) }
    },
    whole: (answer: ModelAnswer): ModelAnswer => ({ ...answer, parts: answer.parts.map((part) => resealed(part, named)) }),
  }
}

/** A name may hold anything. */
const nameOf = (provider: string) => encodeURIComponent(provider)

const isSealed = (part: Part) => 'seal' in part && part.seal !== undefined

function resealed(part: Part, by: (seal: string) => string): Part {
  if (part.kind !== 'thinking' && part.kind !== 'tool_call') return part
  return part.seal === undefined ? part : { ...part, seal: by(part.seal) }
}
