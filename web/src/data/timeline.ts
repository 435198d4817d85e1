import type { Event } from '../../../src/domain/event.ts'

type Of<T extends Event['type']> = Extract<Event, { type: T }>

/** One thing on the timeline: an event, or a call of a tool together with what came back. */
export type Item =
  | { readonly kind: 'event'; readonly event: Event }
  | { readonly kind: 'tool'; readonly event: Of<'agent.tool_called'>; readonly returned?: Of<'agent.tool_returned'> | undefined }

/** What says nothing that another event does not say better. */
const silent: ReadonlySet<Event['type']> = new Set([
  'agent.usage',
  'run.admitted',
  'agent.session',
  'agent.tool_returned',
  'model.called',
])

/** The timeline of one task, built from its events as they come. */
export class Timeline {
  /** Replaced as a whole whenever something changes, so that whoever shows it can compare. */
  items: readonly Item[] = []
  lastSeq = 0
  #next: Item[] = []
  readonly #calls = new Map<string, number>()

  /** Takes events that follow those it has; one it has already is passed over. */
  add(events: readonly Event[]): void {
    for (const event of events) {
      if (event.seq <= this.lastSeq) continue
      this.lastSeq = event.seq
      if (event.type === 'agent.tool_called') {
        this.#calls.set(`${event.run} ${event.data.callId}`, this.#next.length)
        this.#next.push({ kind: 'tool', event })
      } else if (event.type === 'agent.tool_returned') {
        const place = this.#calls.get(`${event.run} ${event.data.callId}`)
        const call = place === undefined ? undefined : this.#next[place]
        if (call?.kind === 'tool') this.#next[place!] = { ...call, returned: event }
      } else if (!silent.has(event.type)) this.#next.push({ kind: 'event', event })
    }
    this.items = this.#next.slice()
  }
}
