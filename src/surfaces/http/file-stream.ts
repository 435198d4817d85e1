/** A file that is open. */
export interface OpenFile {
  bytes(range: { from: number; to: number }): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

/** A part of it as the body of an answer, read no faster than it is taken. It is closed at the end, however that comes. */
export function streamOf(content: OpenFile, range: { from: number; to: number }): ReadableStream<Uint8Array> {
  const pieces = content.bytes(range)[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next()
        if (!done) return controller.enqueue(value)
        await content.close()
        controller.close()
      } catch (error) {
        await content.close()
        controller.error(error)
      }
    },
    async cancel() {
      await pieces.return?.()
      await content.close()
    },
  })
}
