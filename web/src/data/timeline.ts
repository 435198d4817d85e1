import type { Event } from '../../../src/domain/event/event.ts'
import { type Todo, TodoKeeper } from '../../../src/domain/event/todos.ts'

export type Of<T extends Event['type']> = Extract<Event, { type: T }>

/** One thing on the timeline: an event, or a call of a tool together with what came back. */
export type Item = EventItem | ToolItem
export interface EventItem {
  readonly kind: 'event'
  readonly event: Event
}
export interface ToolItem {
  readonly kind: 'tool'
  readonly event: Of<'agent.tool_called'>
  readonly returned?: Of<'agent.tool_returned'> | undefined
  /** The number of the call that started the subagent which used it. */
  readonly within?: number | undefined
  /** So many subagents deep. */
  readonly depth?: number | undefined
  /** How many tools were used below it. */
  readonly steps?: number | undefined
}

/** What says nothing that another event does not say better. */
const silent: ReadonlySet<Event['type']> = new Set(['agent.usage', 'run.admitted', 'agent.session', 'agent.tool_returned'])

const isSilent = (event: Event) => silent.has(event.type) || (event.type === 'model.called' && event.data.refusal === undefined)

/** The timeline of one task, built from its events as they come. */
export class Timeline {
  /** Replaced as a whole whenever something changes, so that whoever shows it can compare. */
  items: readonly Item[] = []
  lastSeq = 0
  lastAt: string | undefined
  /** All events, those that are not shown among them. */
  count = 0
  /** What the agent means to do, as it said last. */
  todos: readonly Todo[] = []
  /** Models by run, as the agent and the gateway name them. */
  models: ReadonlyMap<string, readonly string[]> = new Map()
  #next: Item[] = []
  readonly #calls = new Map<string, number>()
  readonly #todos = new TodoKeeper()

  /** Takes events that follow those it has; one it has already is passed over. */
  add(events: readonly Event[]): void {
    for (const event of events) {
      if (event.seq <= this.lastSeq) continue
      this.lastSeq = event.seq
      this.lastAt = event.at
      this.count++
      if (event.type === 'agent.tool_called') this.#call(event)
      else if (event.type === 'agent.tool_returned') this.#return(event)
      else if (!isSilent(event)) this.#next.push({ kind: 'event', event })
      this.#todos.take(event)
      this.#noteModel(event)
    }
    this.items = this.#next.slice()
    this.todos = this.#todos.list
  }

  #call(event: Of<'agent.tool_called'>): void {
    this.#calls.set(`${event.run} ${event.data.callId}`, this.#next.length)
    const place = event.data.parent === undefined ? undefined : this.#calls.get(`${event.run} ${event.data.parent}`)
    const parent = place === undefined ? undefined : this.#next[place]
    if (parent?.kind !== 'tool') return void this.#next.push({ kind: 'tool', event })
    this.#next[place!] = { ...parent, steps: (parent.steps ?? 0) + 1 }
    this.#next.push({ kind: 'tool', event, within: parent.event.seq, depth: (parent.depth ?? 0) + 1 })
  }

  #return(event: Of<'agent.tool_returned'>): void {
    const place = this.#calls.get(`${event.run} ${event.data.callId}`)
    const call = place === undefined ? undefined : this.#next[place]
    if (call?.kind === 'tool') this.#next[place!] = { ...call, returned: event }
  }

  #noteModel(event: Event): void {
    if (event.type !== 'agent.usage' && event.type !== 'model.called') return
    const { model } = event.data
    const known = this.models.get(event.run ?? '') ?? []
    if (model === undefined || event.run === undefined || known.includes(model)) return
    this.models = new Map(this.models).set(event.run, [...known, model])
  }
}
