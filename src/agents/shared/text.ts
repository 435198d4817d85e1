/** What programs print, made fit to be stored and shown: decoded, bounded, and in pieces of a bearable size. */

export const pieceChars = 65_536
export const lineChars = 1_048_576
export const answerChars = 1_048_576

/** Neither a database nor JSON takes half a surrogate pair or a NUL. */
export const clean = (text: string) => text.toWellFormed().replaceAll('\0', '\uFFFD')

export const cut = (text: string, maxChars: number) =>
  text.length <= maxChars ? clean(text) : `${clean(text.slice(0, maxChars))} … (${text.length - maxChars} more characters)`

export interface TextKeeper {
  add(text: string): void
  text(): string
}

/** Keeps the beginning and the end of a text of any length and says how much is missing between them. */
export function createTextKeeper(maxChars = answerChars): TextKeeper {
  const half = Math.floor(maxChars / 2)
  let head = ''
  let tail = ''
  let total = 0
  return {
    add(text) {
      total += text.length
      const room = half - head.length
      if (room > 0) head += text.slice(0, room)
      const rest = text.slice(Math.max(room, text.length - half, 0))
      if (rest === '') return
      tail += rest
      // A cut copies all that is kept: with each piece it would take more time than anything else when a program floods.
      if (tail.length > 4 * half) tail = tail.slice(-half)
    },
    text() {
      if (total <= 2 * half) return clean(head + tail)
      return `${clean(head)}\n[… ${total - 2 * half} characters left out here; the raw log has them …]\n${clean(tail.slice(-half))}`
    },
  }
}

export interface TextFlow {
  push(chunk: Buffer): Promise<void>
  end(): Promise<void>
}

/**
 * Turns the bytes of a pipe into messages: whole lines, those that arrive together as one, long ones in pieces.
 * Bytes that are no UTF-8 become replacement characters. Of one line at most `lineChars` are sent.
 */
export function createTextFlow(to: {
  send(text: string): Promise<void> | void
  keep: TextKeeper
  /** Told of a line that has not come to its end, piece by piece. */
  grow?: ((piece: string) => void) | undefined
}): TextFlow {
  const decoder = new TextDecoder()
  let held = ''
  let length = 0
  let leftOut = 0

  async function take(text: string): Promise<void> {
    to.keep.add(text)
    let ready = 0
    for (let from = 0; from < text.length; ) {
      const newline = text.indexOf('\n', from)
      const end = newline < 0 ? text.length : newline
      const room = lineChars - length
      held += text.slice(from, Math.min(end, from + room))
      length += Math.min(end - from, room)
      leftOut += Math.max(end - from - room, 0)
      if (newline < 0) break
      endLine()
      held += '\n'
      ready = held.length
      from = newline + 1
    }
    // A line that does not end is sent as it grows.
    if (held.length - ready >= pieceChars) ready = held.length
    const now = held.slice(0, ready)
    held = held.slice(ready)
    await sendPieces(now, to.send)
    if (held !== '') to.grow?.(clean(ready > 0 ? held : text))
  }
  function endLine() {
    if (leftOut > 0) held += ` [… ${leftOut} characters of this line left out here; the raw log has them …]`
    length = 0
    leftOut = 0
  }
  return {
    push: (chunk) => take(decoder.decode(chunk, { stream: true })),
    async end() {
      await take(decoder.decode())
      endLine()
      await sendPieces(held, to.send)
      held = ''
    },
  }
}

/** Sends a text in messages of at most `pieceChars`. */
export async function sendPieces(text: string, send: (text: string) => Promise<void> | void): Promise<void> {
  for (const piece of textPieces(text)) await send(piece)
}

/** A text in pieces of at most `pieceChars`, cut at the end of a line where there is one; those that say nothing are left out. */
export function* textPieces(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let end = Math.min(from + pieceChars, text.length)
    if (end < text.length) {
      const newline = text.lastIndexOf('\n', end - 1)
      if (newline >= from) end = newline + 1
      else if (isHighSurrogate(text.charCodeAt(end - 1))) end--
    }
    const piece = text.slice(from, end)
    from = end
    if (piece.trim() !== '') yield clean(piece.endsWith('\n') ? piece.slice(0, -1) : piece)
  }
}

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
