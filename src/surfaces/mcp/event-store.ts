import type { EventId, EventStore, JSONRPCMessage, StreamId } from '@modelcontextprotocol/server'

/** A client whose stream was cut asks for what it has missed; more than this it reads anew. */
const kept = 200

/** The last messages of a session, so that a cut stream can be taken up again. They tell of work and are not the work: nothing is lost with them. */
export function createEventStore(): EventStore {
  let count = 0
  const events: { readonly id: EventId; readonly stream: StreamId; readonly message: JSONRPCMessage }[] = []
  return {
    async storeEvent(stream, message) {
      const id = String(++count)
      events.push({ id, stream, message })
      if (events.length > kept) events.shift()
      return id
    },
    async getStreamIdForEventId(id) {
      return events.find((event) => event.id === id)?.stream
    },
    async replayEventsAfter(lastId, { send }) {
      const from = events.findIndex((event) => event.id === lastId)
      const stream = events[from]?.stream
      if (stream === undefined) return ''
      for (const event of events.slice(from + 1)) if (event.stream === stream) await send(event.id, event.message)
      return stream
    },
  }
}
