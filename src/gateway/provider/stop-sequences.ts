import type { EndReason, ModelAnswer, ModelEvent } from '../wires/model-event.ts'
import type { Part } from '../wires/model-request.ts'

/**
 * Ends an answer where the client wanted it to end. Some formats know no such thing, and others take only a few: what comes behind is left out, and only what the
 * answer cost is still told.
 */
export function createStopper(stops: readonly string[]): (events: readonly ModelEvent[]) => readonly ModelEvent[] {
  const wanted = stops.filter((stop) => stop !== '')
  if (wanted.length === 0) return (events) => events
  /** What may be the beginning of a stop. */
  let held = ''
  let isOver = false

  function* passed(event: ModelEvent): Generator<ModelEvent> {
    if (event.type === 'usage' || event.type === 'error') yield event
    else if (isOver) {
      if (event.type === 'end') yield { type: 'end', reason: 'stop_sequence' satisfies EndReason }
    } else if (event.type === 'text') {
      const text = held + event.text
      const at = firstOf(wanted, text)
      const keep = at === -1 ? startedAt(wanted, text) : at
      isOver = at !== -1
      held = isOver ? '' : text.slice(keep)
      if (keep > 0) yield { type: 'text', text: text.slice(0, keep) }
    } else {
      if (held !== '') yield { type: 'text', text: held }
      held = ''
      yield event
    }
  }
  return (events) => events.flatMap((event) => [...passed(event)])
}

/** The same of a whole answer. */
export function stopped(answer: ModelAnswer, stops: readonly string[]): ModelAnswer {
  const wanted = stops.filter((stop) => stop !== '')
  const parts: Part[] = []
  for (const part of answer.parts) {
    const at = part.kind === 'text' ? firstOf(wanted, part.text) : -1
    if (part.kind !== 'text' || at === -1) parts.push(part)
    else return { ...answer, parts: [...parts, { ...part, text: part.text.slice(0, at) }], reason: 'stop_sequence' }
  }
  return answer
}

function firstOf(stops: readonly string[], text: string): number {
  const found = stops.map((stop) => text.indexOf(stop)).filter((at) => at !== -1)
  return found.length === 0 ? -1 : Math.min(...found)
}

/** Where a stop may have begun that the end of the text cuts off. */
function startedAt(stops: readonly string[], text: string): number {
  const longest = Math.max(...stops.map((stop) => stop.length)) - 1
  for (let at = Math.max(0, text.length - longest); at < text.length; at++) {
    const end = text.slice(at)
    if (stops.some((stop) => stop.startsWith(end))) return at
  }
  return text.length
}
