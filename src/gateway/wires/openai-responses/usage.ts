import { fieldsOf, isObject } from '../../../domain/base/object.ts'
import { objectsOf, parsedObject } from '../fields.ts'
import type { ModelUsage } from '../model-event.ts'
import type { JsonObject } from '../model-request.ts'
import { usageOf } from '../openai/usage.ts'
import type { UsageReader } from '../wire.ts'

/** Told with the last event, in which the whole answer stands once more. */
export function usageReader(): UsageReader {
  let usage: ModelUsage | undefined
  let hasEnded = false
  const take = (response: JsonObject) => {
    usage = responseUsage(response) ?? usage
    if (isOver(response.status)) hasEnded = true
  }
  return {
    frame({ event, data }) {
      if (event === undefined ? !lastEvents.test(data.slice(0, 200)) : !lastEvents.test(event)) return
      take(fieldsOf(parsedObject(data)?.response))
    },
    whole: take,
    get usage() {
      return usage
    },
    get hasEnded() {
      return hasEnded
    },
  }
}

const lastEvents = /response\.(completed|incomplete|failed|done)\b/
const isOver = (status: unknown) => status === 'completed' || status === 'incomplete' || status === 'failed'

/** With what the service's own tools cost by the piece. */
export function responseUsage(response: JsonObject): ModelUsage | undefined {
  if (!isObject(response.usage)) return undefined
  const searches = objectsOf(response.output).filter((item) => item.type === 'web_search_call').length
  return { ...usageOf(response.usage), ...(searches > 0 && { pieces: { web_search_requests: searches } }) }
}
