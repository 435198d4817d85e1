import type { Socket } from 'node:net'
import type pg from 'pg'

/**
 * COPY over a connection of its own. The driver knows the messages but has no query that speaks them; one connection does nothing else meanwhile, and must not
 * send statements ahead (`Database.alone`).
 */
const blockBytes = 1 << 20
/** Beyond this many blocks that nobody has taken, the server is not read any further. */
const mostBlocks = 4

/** What the driver hands to a query it is told to submit; its types name only a part of it. */
interface Wire {
  readonly stream: Socket
  query(text: string): void
  sendCopyFromChunk(chunk: Uint8Array): void
  endCopyFrom(): void
  sendCopyFail(why: string): void
}

/** The bytes of `copy … to stdout`, in blocks of about a megabyte that end anywhere. */
export async function* copyOut(client: pg.Client, text: string): AsyncGenerator<Buffer, void, undefined> {
  const blocks: Buffer[] = []
  let filling = Buffer.allocUnsafe(blockBytes)
  let filled = 0
  let wire: Wire | undefined
  let isOver = false
  let failure: unknown
  let told = Promise.withResolvers<void>()
  const close = () => {
    if (filled > 0) blocks.push(filling.subarray(0, filled))
    filling = Buffer.allocUnsafe(blockBytes)
    filled = 0
    if (blocks.length >= mostBlocks) wire?.stream.pause()
    told.resolve()
  }
  client.query({
    submit(connection: unknown) {
      wire = connection as Wire
      wire.query(text)
    },
    // The chunk lies in the driver's own buffer, which is used again.
    handleCopyData({ chunk }: { chunk: Buffer }) {
      for (let at = 0; at < chunk.length; ) {
        const took = chunk.copy(filling, filled, at)
        at += took
        filled += took
        if (filled === blockBytes) close()
      }
    },
    handleCommandComplete: () => undefined,
    handleError(error: unknown) {
      failure = error
      isOver = true
      told.resolve()
    },
    handleReadyForQuery() {
      isOver = true
      close()
    },
  })
  try {
    for (;;) {
      const block = blocks.shift()
      if (block) {
        if (blocks.length < mostBlocks) wire?.stream.resume()
        yield block
      } else if (failure !== undefined) throw failure
      else if (isOver) return
      else {
        await told.promise
        told = Promise.withResolvers()
      }
    }
  } finally {
    // A reader that leaves early has no use for the rest, and the connection none either.
    wire?.stream.resume()
    if (!isOver) wire?.stream.destroy()
  }
}

/** Feeds `copy … from stdin`; answers how many rows were stored. */
export function copyIn(client: pg.Client, text: string, blocks: AsyncIterable<Uint8Array>): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  let rows = 0
  let isOver = false
  const over = (settle: () => void) => {
    isOver = true
    settle()
  }
  const feed = async (wire: Wire) => {
    try {
      for await (const block of blocks) {
        if (isOver) return
        wire.sendCopyFromChunk(block)
        if (wire.stream.writableNeedDrain) await drained(wire.stream)
      }
      wire.endCopyFrom()
    } catch (error) {
      // The server answers with an error of its own, which must not hide this one.
      over(() => reject(error))
      wire.sendCopyFail('the reader failed')
    }
  }
  client.query({
    submit: (connection: unknown) => (connection as Wire).query(text),
    handleCopyInResponse: (connection: unknown) => void feed(connection as Wire),
    handleCommandComplete({ text: said }: { text: string }) {
      rows = Number(/\d+$/.exec(said)?.[0] ?? 0)
    },
    handleError: (error: unknown) => over(() => reject(error)),
    handleReadyForQuery: () => over(() => resolve(rows)),
  })
  return promise
}

const drained = (stream: Socket) =>
  new Promise<void>((done) => {
    const go = () => {
      stream.off('drain', go)
      stream.off('close', go)
      done()
    }
    stream.once('drain', go)
    stream.once('close', go)
  })
