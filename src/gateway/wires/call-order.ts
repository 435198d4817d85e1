import type { ModelEvent } from './model-event.ts'

/**
 * Puts calls that come side by side one after another: a call begins when the one before it is whole. Clients that know only
 * one open part at a time understand nothing else.
 */
export function createCallOrder(): (event: ModelEvent) => readonly ModelEvent[] {
  let open: { index: number; json: string } | undefined
  let waiting: Map<number, ModelEvent[]> | undefined

  return function inOrder(event) {
    if (event.type === 'tool_call') {
      if (!open || (!waiting && isJson(open.json))) {
        open = { index: event.index, json: '' }
        return [event]
      }
      waiting ??= new Map()
      waiting.set(event.index, [event])
      return []
    }
    if (event.type === 'tool_input') {
      const held = waiting?.get(event.index)
      if (held) {
        held.push(event)
        return []
      }
      if (open?.index === event.index) open.json += event.json
      if (!waiting || !open || !isJson(open.json)) return [event]
      return [event, ...released(false)]
    }
    if (event.type === 'usage' || event.type === 'start') return [event]
    const held = waiting ? released(true) : []
    open = undefined
    return held.length === 0 ? [event] : [...held, event]
  }

  /** The waiting calls up to the first that is not whole yet, or all of them. */
  function released(all: boolean): ModelEvent[] {
    const events: ModelEvent[] = []
    for (const [index, held] of waiting ?? []) {
      events.push(...held)
      waiting?.delete(index)
      const json = held.map((event) => (event.type === 'tool_input' ? event.json : '')).join('')
      open = { index, json }
      if (!all && !isJson(json)) break
    }
    if (waiting?.size === 0) waiting = undefined
    return events
  }
}

function isJson(text: string): boolean {
  if (!text.trimEnd().endsWith('}')) return false
  try {
    JSON.parse(text)
    return true
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown
    return false
  }
}
