import type { Event } from '../../domain/event/event.ts'

export const pageSize = 500
const maxWaitingBatches = 64

interface Reader {
  /** Says that a person is there who can answer. */
  readonly attends: boolean
  batches: Event[][]
  /** Too slow to be told everything: it reads what it missed from the store. */
  isBehind: boolean
  wake: () => void
}

export type Hub = ReturnType<typeof createHub>

/** Fans stored events out to the readers of their task: one query serves them all when the events came from elsewhere. */
export function createHub(eventsAfter: (task: string, after: number) => Promise<Event[]>) {
  const readers = new Map<string, Set<Reader>>()
  const tails = new Map<string, number>()
  const refreshing = new Map<string, { again: boolean }>()

  const publish = (task: string, batch: Event[]) => {
    const set = readers.get(task)
    if (!set) return
    tails.set(task, Math.max(tails.get(task) ?? 0, batch.at(-1)!.seq))
    for (const reader of set) {
      if (reader.batches.length < maxWaitingBatches) reader.batches.push(batch)
      else reader.isBehind = true
      reader.wake()
    }
  }

  const refreshOne = async (task: string, asked: { again: boolean }) => {
    let isFull = false
    do {
      // Whoever asks from here on may know of an event that this query does not see.
      asked.again = false
      const batch = await eventsAfter(task, tails.get(task) ?? 0)
      if (batch.length > 0) publish(task, batch)
      isFull = batch.length === pageSize
    } while (isFull || asked.again)
  }

  const refresh = (task: string) => {
    for (const name of task === '*' ? readers.keys() : [task]) {
      if (!readers.has(name)) continue
      const underWay = refreshing.get(name)
      if (underWay) {
        underWay.again = true
        continue
      }
      const asked = { again: false }
      refreshing.set(name, asked)
      void refreshOne(name, asked)
        // The reader asks again by itself when it is next woken; a lost connection is reported by whoever writes.
        .catch(() => undefined)
        .finally(() => refreshing.delete(name))
    }
  }

  return {
    publish,
    refresh,
    /** Who follows a task in this process. */
    readersOf(task: string): { followers: number; attending: number } {
      const set = [...(readers.get(task) ?? [])]
      return { followers: set.length, attending: set.filter((reader) => reader.attends).length }
    },
    async *follow(task: string, after: number, signal: AbortSignal, attends = false): AsyncGenerator<Event[]> {
      let woken = Promise.withResolvers<void>()
      const reader: Reader = { attends, batches: [], isBehind: false, wake: () => woken.resolve() }
      const set = readers.get(task) ?? new Set()
      readers.set(task, set.add(reader))
      signal.addEventListener('abort', reader.wake)
      let last = after
      try {
        replay: while (!signal.aborted) {
          for (;;) {
            const page = await eventsAfter(task, last)
            if (page.length > 0) {
              last = page.at(-1)!.seq
              tails.set(task, Math.max(tails.get(task) ?? 0, last))
              yield page
            }
            if (page.length < pageSize || signal.aborted) break
          }
          while (!signal.aborted) {
            const batches = reader.batches
            reader.batches = []
            for (const batch of batches) {
              const first = batch[0]!.seq
              const fresh = first > last ? batch : batch.filter((event) => event.seq > last)
              if (fresh.length === 0) continue
              // Two commits of one task may be told in the other order: read what is missing from the store.
              if (fresh[0]!.seq !== last + 1) continue replay
              last = fresh.at(-1)!.seq
              yield fresh
            }
            if (reader.isBehind) {
              reader.isBehind = false
              continue replay
            }
            if (reader.batches.length > 0) continue
            await woken.promise
            woken = Promise.withResolvers()
          }
        }
      } finally {
        signal.removeEventListener('abort', reader.wake)
        set.delete(reader)
        if (set.size === 0) {
          readers.delete(task)
          tails.delete(task)
        }
      }
    },
  }
}
