import type { Redactor } from '../../redact/redactor.ts'
import type { RecordingLine, StoredBody } from './format.ts'
import { keptFrames, type TimedBytes } from './frames.ts'
import { jsonObject, type Piece, sha256, splitBody } from './pieces.ts'
import type { CallRecorder, RecordedAsk, Recorder } from './recording.ts'

export interface TapeOptions {
  /** Keeps a line; never throws. */
  readonly write: (line: string) => void
  readonly redactor: Pick<Redactor, 'text' | 'value'>
  /** In milliseconds, from any moment on. */
  readonly monotonic: () => number
  readonly maxBytes: number
  /** Told once, when there is no more room: nothing is kept from then on. */
  readonly onFull: (why: string) => void
}

/** Writes a recording, line by line. Nothing is kept of a call that was not begun while there was room. */
export interface Tape extends Recorder {
  line(line: RecordingLine): void
  /** Says the end. Answers that come later are not kept. */
  end(): { readonly calls: number; readonly bytes: number }
}

export function createTape({ write, redactor, monotonic, maxBytes, onFull }: TapeOptions): Tape {
  const startedAt = monotonic()
  /** By what they held before anything was hidden in them. */
  const numbers = new Map<string, number>()
  let [bytes, calls] = [0, 0]
  let stopped: string | undefined
  let isOver = false

  const line = (content: RecordingLine) => {
    if (isOver || (stopped !== undefined && content.type !== 'end')) return
    const text = `${JSON.stringify(content)}\n`
    const size = Buffer.byteLength(text)
    if (content.type !== 'end' && bytes + size > maxBytes) {
      stopped = `The recording has reached its bound of ${Math.round(maxBytes / 1_000_000)} MB (recordings.maxMb); nothing more is kept.`
      return onFull(stopped)
    }
    bytes += size
    write(text)
  }

  const numberOf = ({ value, sha256: raw }: Piece): number => {
    const known = numbers.get(raw)
    if (known !== undefined) return known
    const clean = redactor.value(value)
    const number = numbers.size + 1
    numbers.set(raw, number)
    line({ type: 'piece', number, sha256: clean === value ? raw : sha256(JSON.stringify(clean)), value: clean })
    return number
  }

  const stored = (body: Buffer): StoredBody => {
    const text = body.toString('utf8')
    const object = jsonObject(text)
    if (!object) return { text: redactor.text(text) }
    const { fields, pieces, order } = splitBody(object)
    const named = Object.entries(pieces).map(
      ([key, piece]) => [key, Array.isArray(piece) ? piece.map(numberOf) : numberOf(piece as Piece)] as const,
    )
    return { fields: redactor.value(fields), pieces: Object.fromEntries(named), order: [...order] }
  }

  return {
    line,
    begin({ number, method, path, headers, body }: RecordedAsk): CallRecorder {
      const begunAt = monotonic()
      if (!isOver && stopped === undefined) {
        calls++
        line({
          type: 'call',
          number,
          atMs: Math.round(begunAt - startedAt),
          method,
          path: redactor.text(withoutKey(path)),
          headers: redactor.value(keptHeaders(headers, askHeaders)),
          body: stored(body),
        })
      }
      const chunks: TimedBytes[] = []
      let head: { status: number; headers: Record<string, string> } | undefined
      return {
        head(status, given) {
          head = { status, headers: redactor.value(keptHeaders(given, answerHeaders)) }
        },
        chunk: (piece) => void chunks.push({ ms: Math.round(monotonic() - begunAt), bytes: Uint8Array.from(piece) }),
        end(how) {
          if (!head) return
          line({ type: 'answer', number, ...head, frames: keptFrames(chunks, redactor), whole: how === 'whole' })
        },
      }
    },
    end() {
      line({ type: 'end', calls, ...(stopped === undefined ? {} : { stopped }) })
      isOver = true
      return { calls, bytes }
    },
  }
}

/** By name, so that no header that lets anybody in is ever kept. */
const askHeaders = /^(accept|content-type|user-agent|anthropic-version|anthropic-beta|openai-beta)$/
const answerHeaders =
  /^(content-type|cache-control|retry-after|retry-after-ms|request-id|x-request-id|anthropic-ratelimit-.*|x-ratelimit-.*)$/

const keptHeaders = (headers: Readonly<Record<string, string>>, kept: RegExp): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => kept.test(name.toLowerCase())))

/** Some formats put the key into the query. */
export function withoutKey(path: string): string {
  const [plain = '', query] = path.split('?', 2)
  if (query === undefined) return path
  const kept = query.split('&').filter((part) => !/^(key|token|api[-_]?key|access_token)=/i.test(part))
  return kept.length > 0 ? `${plain}?${kept.join('&')}` : plain
}
