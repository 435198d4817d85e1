import { isObject } from '../../../domain/base/object.ts'
import { objectsOf, parsedObject } from '../fields.ts'
import type { JsonObject } from '../model-request.ts'
import { usageOf } from '../openai/usage.ts'
import type { UsageReader } from '../wire.ts'

/** Told once, after the last piece; some servers send an empty field with every piece, and some tell it with each. */
export function usageReader(): UsageReader {
  let told: JsonObject | undefined
  let hasEnded = false
  const take = (body: JsonObject | undefined) => {
    // Some put it beside the choice.
    const usage = body?.usage ?? objectsOf(body?.choices)[0]?.usage
    if (isObject(usage)) told = usage
  }
  return {
    frame({ data }) {
      if (data === '[DONE]' || (!hasEnded && /"finish_reason"\s*:\s*"/.test(data))) hasEnded = true
      if (data.includes('"usage"') && !data.includes('"usage":null')) take(parsedObject(data))
    },
    whole(body) {
      take(body)
      hasEnded = objectsOf(body.choices).some((choice) => typeof choice.finish_reason === 'string')
    },
    get usage() {
      return told && usageOf(told)
    },
    get hasEnded() {
      return hasEnded
    },
  }
}
