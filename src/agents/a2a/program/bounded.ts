import type { IncomingMessage } from 'node:http'
import { ReadableStream } from 'node:stream/web'
import { Failure, reasonOf } from './failure.ts'

/** Not even a sign of life for so long: the connection is taken for dead, and made anew. */
const silenceMs = 60_000
/** All that one stream may bring, with whatever it repeats. */
const maxStreamBytes = 256 * 1024 * 1024

/** What comes back, up to a bound. A stream that says nothing for long ends, so that whoever reads it looks again. */
export function bounded(
  response: IncomingMessage,
  { from, maxBytes = maxStreamBytes, isStream }: { from: string; maxBytes?: number | undefined; isStream: boolean },
): globalThis.ReadableStream<Uint8Array<ArrayBuffer>> {
  return ReadableStream.from(pieces()) as globalThis.ReadableStream<Uint8Array<ArrayBuffer>>

  async function* pieces(): AsyncGenerator<Uint8Array> {
    let bytes = 0
    let isSilent = false
    const silence = setTimeout(() => {
      isSilent = true
      response.destroy()
    }, silenceMs)
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        silence.refresh()
        bytes += chunk.byteLength
        if (bytes > maxBytes)
          throw new Failure('output_limit', `${from} sent more than ${Math.round(maxBytes / 1_048_576)} MB in one answer.`)
        yield chunk
      }
    } catch (thrown) {
      if (thrown instanceof Failure) throw thrown
      if (isSilent && isStream) return
      const why = isSilent ? `nothing came for ${silenceMs / 1_000} s` : reasonOf(thrown)
      throw new Failure('network', `What ${from} was sending broke off: ${why}.`, { isPassing: true })
    } finally {
      clearTimeout(silence)
      response.destroy()
    }
  }
}
