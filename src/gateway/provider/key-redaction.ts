import { type ByteRedactor, createRedactor } from '../../redact/redactor.ts'
import { type RawHeaders, withoutConnection } from '../base/headers.ts'
import type { Reader, Source } from './source.ts'

/** A provider's body without the key by which we asked, in any of the forms it is usually written in. Only bytes that may be the beginning of the key wait for the next ones. */
export function withoutKey(source: Source, key: string | undefined): Source {
  const redactor = redactorOf(key)
  if (!redactor) return source
  return {
    read: (to) => source.read(cleaning(redactor.stream(), to)),
    pause: () => source.pause(),
    resume: () => source.resume(),
    destroy: () => source.destroy(),
  }
}

/** A provider's headers as they go to the client: one that repeats the key by which we asked stays behind. */
export const returning = (raw: RawHeaders, key: string | undefined) => headersWithoutKey(withoutConnection(raw), key)

/** Headers without those that repeat the key. */
function headersWithoutKey(headers: RawHeaders, key: string | undefined): string[] {
  const redactor = redactorOf(key)
  if (!redactor) return [...headers]
  const holdsKey = (text: string) => {
    const stream = redactor.stream()
    const clean = Buffer.concat([...stream.write(Buffer.from(text)), stream.end()])
    return clean.toString() !== text
  }
  // Nearly always: one look at all of them costs less than one at each.
  if (!holdsKey(headers.join('\n'))) return [...headers]
  return headers.filter((_, at) => !holdsKey(headers[at - (at % 2)]!) && !holdsKey(headers[at - (at % 2) + 1]!))
}

function cleaning(stream: ByteRedactor, to: Reader): Reader {
  return {
    data(bytes) {
      for (const piece of stream.write(bytes)) to.data(piece)
    },
    end(isWhole) {
      const last = stream.end()
      if (last.length > 0) to.data(last)
      to.end(isWhole)
    },
  }
}

/** The forms of a key take a moment to work out, and keys are few. */
const redactors = new Map<string, ReturnType<typeof createRedactor>>()
const mostKeys = 100

function redactorOf(key: string | undefined) {
  if (!key) return undefined
  const known = redactors.get(key)
  if (known) return known
  const redactor = createRedactor()
  redactor.add('provider key', key)
  if (redactors.size >= mostKeys) redactors.clear()
  redactors.set(key, redactor)
  return redactor
}
