import { formatSSEErrorEvent, formatSSEEvent } from '@a2a-js/sdk'

/**
 * A stream as server-sent events. What is wrong before its first event is thrown, so that it can be refused as any other call; what goes wrong later is its last frame.
 */
export async function framesOf<T>(
  events: AsyncGenerator<T, void, undefined>,
  { say, sayError }: { say: (event: T) => unknown; sayError: (thrown: unknown) => unknown },
): Promise<AsyncGenerator<string, void, undefined>> {
  const first = await events.next()
  return (async function* () {
    try {
      for (let next = first; !next.done; next = await events.next()) yield formatSSEEvent(say(next.value))
    } catch (thrown) {
      yield formatSSEErrorEvent(sayError(thrown))
    } finally {
      await events.return()
    }
  })()
}
