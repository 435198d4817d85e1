import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { messageOf } from '../domain/error.ts'
import { connectAsNamed, createHttpClient, discard } from '../sandbox/egress/http-client.ts'
import type { OtlpSettings } from './settings.ts'
import { attributes, type Span } from './span.ts'

/** Sends spans in batches. Whoever receives them is not ours: if it is slow or away, spans are dropped, and nothing else is slower for it. */
export interface Exporter {
  send(span: Span): void
  /** Sends what is left, within a moment. */
  stop(): Promise<void>
}

const batchSize = 512
const most = 16 * batchSize
const everyMs = 2_000
const withinMs = 10_000
const lastWithinMs = 2_000

export function createExporter(options: { settings: OtlpSettings; version: string; clock: Clock; log: Log }): Exporter {
  const { settings, version, clock, log } = options
  const resource = attributes({ ...settings.resource, 'service.name': settings.service, 'service.version': version })
  const client = createHttpClient(connectAsNamed, { keep: true })
  let waiting: Span[] = []
  let dropped = 0
  let sending: Promise<void> | undefined
  let cancelTimer: (() => void) | undefined
  let hasWarned = false

  const post = async (spans: readonly Span[], timeoutMs: number) => {
    const body = JSON.stringify({
      resourceSpans: [{ resource: { attributes: resource }, scopeSpans: [{ scope: { name: 'pawl', version }, spans }] }],
    })
    const answer = await client.send(new URL(settings.url), {
      method: 'POST',
      headers: { ...settings.headers, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    })
    await discard(answer)
    const { statusCode: status = 0 } = answer
    if (status < 200 || status > 299) throw new Error(`it answered ${status}`)
  }
  const flush = (timeoutMs = withinMs): Promise<void> => {
    cancelTimer?.()
    cancelTimer = undefined
    sending ??= (async () => {
      const spans = waiting.slice(0, batchSize)
      waiting = waiting.slice(batchSize)
      try {
        if (spans.length > 0) await post(spans, timeoutMs)
        hasWarned = false
      } catch (error) {
        dropped += spans.length
        // One line until it works again: a collector that is away for a day must not fill the log.
        if (!hasWarned)
          log.warn('spans were not taken and are dropped', {
            endpoint: new URL(settings.url).origin,
            error: messageOf(error),
            dropped,
          })
        hasWarned = true
      } finally {
        sending = undefined
        if (waiting.length > 0) plan()
      }
    })()
    return sending
  }
  const plan = () => {
    if (waiting.length >= batchSize) void flush()
    else cancelTimer ??= clock.after(everyMs, () => void flush())
  }

  return {
    send(span) {
      if (waiting.length >= most) {
        dropped++
        return
      }
      waiting.push(span)
      plan()
    },
    async stop() {
      await sending
      while (waiting.length > 0 && !hasWarned) await flush(lastWithinMs)
      cancelTimer?.()
      client.close()
    },
  }
}
