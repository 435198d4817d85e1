/** One message of a stream: an event with its id and, if it has one, its name; or a comment. */
export type SseMessage =
  | { readonly id: string | undefined; readonly name?: string; readonly data: string }
  | { readonly comment: string }

/**
 * Reads the event stream format from text in any pieces. `push` returns the messages that have become whole;
 * a message that never ends is never told, so a cut connection cannot leave half an event behind.
 */
export class SseParser {
  /** The pieces of a line whose end has not come. Joined only then, so a very long line in small pieces stays cheap. */
  #pending: string[] = []
  #id: string | undefined
  #name: string | undefined
  #data: string[] = []

  push(text: string): SseMessage[] {
    const messages: SseMessage[] = []
    if (!this.#pending.at(-1)?.endsWith('\r') && !/[\r\n]/.test(text)) {
      if (text !== '') this.#pending.push(text)
      return messages
    }
    const whole = this.#pending.join('') + text
    let from = 0
    for (const { index, 0: ending } of whole.matchAll(lineEnding)) {
      this.#line(whole.slice(from, index), messages)
      from = index + ending.length
    }
    this.#pending = from < whole.length ? [whole.slice(from)] : []
    return messages
  }

  #line(line: string, messages: SseMessage[]): void {
    if (line === '') {
      if (this.#data.length > 0)
        messages.push({ id: this.#id, ...(this.#name && { name: this.#name }), data: this.#data.join('\n') })
      this.#data = []
      this.#name = undefined
      return
    }
    const colon = line.indexOf(':')
    if (colon === 0) return void messages.push({ comment: line.slice(1).trimStart() })
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') this.#data.push(value)
    else if (field === 'id') this.#id = value
    else if (field === 'event') this.#name = value
  }
}

/** A line ends with LF, CR, or both; a CR at the very end may still get its LF. */
const lineEnding = /\r\n|\n|\r(?!$)/g
