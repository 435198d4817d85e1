import { PawlError } from '../../domain/error.ts'
import { type LineOf, RecordingLine } from './format.ts'
import type { SplitBody } from './pieces.ts'

/** A recording, read. */
export interface Recording {
  readonly head: LineOf<'recording'>
  readonly start?: LineOf<'start'> | undefined
  readonly workspace?: LineOf<'workspace'> | undefined
  /** In the order of their numbers. */
  readonly calls: readonly RecordedCall[]
  /** Undefined if it was cut short. */
  readonly end?: LineOf<'end'> | undefined
}

export interface RecordedCall {
  readonly number: number
  /** Since the recording began. */
  readonly atMs: number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: SplitBody | { readonly text: string }
  /** Undefined if none came. */
  readonly answer?: Omit<LineOf<'answer'>, 'type' | 'number'> | undefined
}

/** A last line that is not whole is what a crash leaves: the rest counts. Throws a `PawlError` (`invalid`) that names the line that is wrong. */
export function readRecording(text: string, named: string): Recording {
  const lines = text.split('\n')
  const last = lines.pop()
  let head: LineOf<'recording'> | undefined
  let start: LineOf<'start'> | undefined
  let workspace: LineOf<'workspace'> | undefined
  let end: LineOf<'end'> | undefined
  const pieces = new Map<number, { value: unknown; sha256: string }>()
  const calls = new Map<number, RecordedCall>()
  const wrong = (at: number, why: string) =>
    new PawlError('invalid', `${named} is no recording that this version can read: line ${at + 1} ${why}.`)

  for (const [at, written] of [...lines, ...(last ? [last] : [])].entries()) {
    if (written === '') continue
    const line = lineOf(written)
    if (!line) {
      if (written === last) break
      throw wrong(at, 'is not one of those that docs/recordings.md names')
    }
    if (!head && line.type !== 'recording') throw wrong(at, 'stands before the head')
    switch (line.type) {
      case 'recording':
        head = line
        break
      case 'start':
        start = line
        break
      case 'workspace':
        workspace = line
        break
      case 'piece':
        pieces.set(line.number, { value: line.value, sha256: line.sha256 })
        break
      case 'call':
        calls.set(line.number, { ...line, body: joined(line.body, at) })
        break
      case 'answer': {
        const call = calls.get(line.number)
        if (!call) throw wrong(at, `answers a call ${line.number} that was not asked`)
        calls.set(line.number, { ...call, answer: line })
        break
      }
      case 'end':
        end = line
        break
    }
  }
  if (!head) throw new PawlError('invalid', `${named} is no recording: it is empty.`)
  return { head, start, workspace, calls: [...calls.values()].toSorted((one, other) => one.number - other.number), end }

  function joined(body: LineOf<'call'>['body'], at: number): RecordedCall['body'] {
    if ('text' in body) return body
    const found = (number: number) => {
      const piece = pieces.get(number)
      if (!piece) throw wrong(at, `names a piece ${number} that does not stand before it`)
      return piece
    }
    const whole = Object.entries(body.pieces).map(
      ([key, numbers]) => [key, Array.isArray(numbers) ? numbers.map(found) : found(numbers)] as const,
    )
    return { fields: body.fields, pieces: Object.fromEntries(whole), order: body.order }
  }
}

function lineOf(text: string): RecordingLine | undefined {
  try {
    return RecordingLine.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
