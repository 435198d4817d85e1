import { emitKeypressEvents } from 'node:readline'

export interface Key {
  /** What was typed, if it can be written. */
  readonly text: string
  readonly name: string
  readonly ctrl: boolean
}

/** Single keys of the terminal, until `stop`. Whoever asks for a line meanwhile pauses it. */
export class Keys {
  readonly #heard: (key: Key) => void
  #isListening = false

  constructor(heard: (key: Key) => void) {
    this.#heard = heard
    emitKeypressEvents(process.stdin)
    // However this ends, the shell must get its terminal back as it was.
    process.once('exit', this.#restore)
    this.resume()
  }

  resume(): void {
    if (this.#isListening || process.stdin.isTTY !== true) return
    this.#isListening = true
    process.stdin.setRawMode(true)
    process.stdin.on('keypress', this.#pressed)
    process.stdin.resume()
  }

  pause(): void {
    if (!this.#isListening) return
    this.#isListening = false
    process.stdin.off('keypress', this.#pressed)
    process.stdin.setRawMode(false)
    process.stdin.pause()
  }

  stop(): void {
    this.pause()
    process.off('exit', this.#restore)
  }

  readonly #restore = () => this.pause()

  readonly #pressed = (typed: string | undefined, key: { name?: string; ctrl?: boolean; meta?: boolean } = {}) => {
    const isWritten = typed !== undefined && !key.ctrl && !key.meta && !/^[\x00-\x1f\x7f-\x9f]/.test(typed)
    this.#heard({ text: isWritten ? typed : '', name: key.name ?? (isWritten ? typed : ''), ctrl: key.ctrl === true })
  }
}
