import { formatSSEErrorEvent, StreamResponse } from '@a2a-js/sdk'

/** Many streams tell the same update, so each is put into words once. */
const texts = new WeakMap<StreamResponse, string>()

export function textOf(update: StreamResponse): string {
  const known = texts.get(update)
  if (known !== undefined) return known
  const text = JSON.stringify(StreamResponse.toJSON(update))
  texts.set(update, text)
  return text
}

/**
 * A stream as server-sent events; `say` answers JSON. What is wrong before its first event is thrown, so that it can be refused as any other call; what goes wrong later is its
 * last frame.
 */
export async function framesOf<T>(
  events: AsyncGenerator<T, void, undefined>,
  { say, sayError }: { say: (event: T) => string; sayError: (thrown: unknown) => unknown },
): Promise<AsyncGenerator<string, void, undefined>> {
  const first = await events.next()
  return (async function* () {
    try {
      for (let next = first; !next.done; next = await events.next()) yield `data: ${say(next.value)}\n\n`
    } catch (thrown) {
      yield formatSSEErrorEvent(sayError(thrown))
    } finally {
      await events.return()
    }
  })()
}
