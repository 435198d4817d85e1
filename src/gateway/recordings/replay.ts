import { PawlError } from '../../domain/error.ts'
import type { Redactor } from '../../redact/redactor.ts'
import { bytesOf } from './frames.ts'
import { createMatcher, type Divergence, isDivergence, type Matcher } from './match.ts'
import { type NamedPlace, normaliser } from './normalise.ts'
import { jsonObject, type Piece, sha256, splitBody } from './pieces.ts'
import type { Recording } from './read.ts'
import { withoutKey } from './recorder.ts'
import type { RecordedAnswer, RecordedAsk, Replay } from './recording.ts'

export interface ReplayOptions {
  readonly recording: Recording
  /** The last call that is answered from it; those after it go to a provider. All of them if left out. */
  readonly until?: number | undefined
  /** The run asks for another model than the recorded one did. */
  readonly anyModel?: boolean | undefined
  /** Where the two runs were. */
  readonly places: readonly NamedPlace[]
  /** Hides in what is asked what was hidden in the recording. */
  readonly redactor: Pick<Redactor, 'text' | 'value'>
  readonly onDivergence: (divergence: Divergence, sentence: string) => void
}

export interface RunReplay extends Replay {
  /** How many calls were answered from the recording, and how many went to a provider. */
  readonly counts: { readonly replayed: number; readonly live: number }
  readonly divergence: Divergence | undefined
  /** The numbers of recorded calls that were not asked for, of those that should have been. */
  missing(): number[]
}

export function createReplay(options: ReplayOptions): RunReplay {
  const { recording, until = Number.POSITIVE_INFINITY, anyModel, redactor } = options
  const matcher = createMatcher(recording.calls, { normalise: normaliser(options.places), anyModel })
  const asked = bodyReader(redactor)
  let [replayed, live] = [0, 0]
  let divergence: Divergence | undefined

  return {
    get counts() {
      return { replayed, live }
    },
    get divergence() {
      return divergence
    },
    missing: () => missingOf(matcher, until),
    async answer({ method, path, body }: RecordedAsk): Promise<RecordedAnswer | 'live'> {
      const found = matcher.take({ method, path: redactor.text(withoutKey(path)), body: asked(body) })
      if (!isDivergence(found)) {
        if (found.number > until) {
          live++
          return 'live'
        }
        if (found.answer) {
          replayed++
          const { status, headers, frames } = found.answer
          return { status, headers, chunks: bytesOf(frames) }
        }
      } else if (until !== Number.POSITIVE_INFINITY && (live > 0 || missingOf(matcher, until).length === 0)) {
        live++
        return 'live'
      }
      const left: Divergence = isDivergence(found)
        ? found
        : { method, path, call: found.number, at: 'its answer, of which none was recorded' }
      const sentence = sayDivergence(left)
      if (!divergence) {
        divergence = left
        options.onDivergence(left, sentence)
      }
      throw new PawlError('invalid', sentence)
    },
  }
}

/** In a sentence or two, for people. */
export function sayDivergence({ call, method, path, at, recorded, asked }: Divergence): string {
  if (call === undefined) return `The run asked for ${method} ${path}, which no call of the recording that is left asks for.`
  const where = `The run left the recording at call ${call} (${method} ${path})`
  return recorded === undefined ? `${where}: ${at}.` : `${where}: ${at} was ${quoted(recorded)} and is ${quoted(asked ?? '')}.`
}

const quoted = (text: string) => JSON.stringify(text)

const missingOf = (matcher: Matcher, until: number) =>
  matcher.left().flatMap(({ number, answer }) => (number <= until && answer?.whole ? [number] : []))

/** Reads bodies as the recorder stored them. What was looked at once is known by its digest. */
export function bodyReader(redactor: Pick<Redactor, 'text' | 'value'>) {
  const clean = new Map<string, Piece>()
  const cleaned = (piece: Piece): Piece => {
    const known = clean.get(piece.sha256)
    if (known) return known
    const value = redactor.value(piece.value)
    const made = value === piece.value ? piece : { value, sha256: sha256(JSON.stringify(value)) }
    clean.set(piece.sha256, made)
    return made
  }
  return (body: Buffer) => {
    const text = body.toString('utf8')
    const object = jsonObject(text)
    if (!object) return { text: redactor.text(text) }
    const { fields, pieces, order } = splitBody(object)
    const whole = Object.entries(pieces).map(
      ([key, piece]) => [key, Array.isArray(piece) ? piece.map(cleaned) : cleaned(piece as Piece)] as const,
    )
    return { fields: redactor.value(fields), pieces: Object.fromEntries(whole), order }
  }
}
