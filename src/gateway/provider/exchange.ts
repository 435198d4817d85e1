import type { Socket } from 'node:net'
import type { RawHeaders } from '../base/headers.ts'
import { type AnswerHearer, AnswerParser } from './answer-parser.ts'
import type { Reader, Source } from './source.ts'

/** A provider's answer, from its head on. */
export interface ProviderAnswer extends Source {
  readonly status: number
  readonly headers: RawHeaders
}

export interface ExchangeOptions {
  /** The head of the answer is here. */
  onHead(answer: ProviderAnswer): void
  /** There will be no answer. Without an error, the connection just ended. */
  onBroken(error: NodeJS.ErrnoException | undefined): void
  /** All of it is read, and its connection can be asked again. */
  onFree(): void
}

/** One request on a connection, until the answer to it is read. */
export class Exchange implements ProviderAnswer, AnswerHearer {
  readonly #socket: Socket
  readonly #options: ExchangeOptions
  readonly #parser = new AnswerParser(this)
  #reader: Reader | undefined
  /** What came before anybody read it. */
  #early: Buffer[] = []
  #earlyBytes = 0
  #end: 'whole' | 'cut' | undefined
  /** Anything at all came back. */
  hasHeard = false
  status = 0
  headers: RawHeaders = []

  constructor(socket: Socket, options: ExchangeOptions) {
    this.#socket = socket
    this.#options = options
  }

  /** The connection brought something. */
  heard(chunk: Buffer): void {
    if (this.#end) return
    this.hasHeard = true
    try {
      this.#parser.push(chunk)
    } catch (error) {
      this.#break(error as Error)
    }
  }

  /** The connection is over. */
  broken(error: NodeJS.ErrnoException | undefined): void {
    if (this.#end || (!error && this.#parser.finish())) return
    this.#break(error)
  }

  #break(error: NodeJS.ErrnoException | undefined): void {
    this.#socket.destroy()
    if (this.status === 0) this.#options.onBroken(error)
    this.#finish('cut')
  }

  head(status: number, headers: RawHeaders): void {
    this.status = status
    this.headers = headers
    this.#options.onHead(this)
  }

  body(bytes: Buffer): void {
    if (this.#reader) {
      this.#reader.data(bytes)
      return
    }
    this.#early.push(bytes)
    this.#earlyBytes += bytes.length
    if (this.#earlyBytes > maxEarlyBytes) this.#socket.pause()
  }

  end(isKept: boolean): void {
    // Whoever reads it may have had enough of it just now.
    if (this.#end) return
    if (!isKept) this.#socket.destroy()
    else {
      if (this.#socket.isPaused()) this.#socket.resume()
      this.#options.onFree()
    }
    this.#finish('whole')
  }

  #finish(end: 'whole' | 'cut'): void {
    this.#end = end
    this.#tellEnd()
  }

  #tellEnd(): void {
    const reader = this.#reader
    if (!reader || !this.#end) return
    this.#reader = undefined
    reader.end(this.#end === 'whole')
  }

  read(reader: Reader): void {
    this.#reader = reader
    const early = this.#early
    this.#early = []
    if (this.#earlyBytes > maxEarlyBytes) this.resume()
    if (early.length > 0) reader.data(early.length === 1 ? early[0]! : Buffer.concat(early))
    this.#tellEnd()
  }

  pause(): void {
    if (!this.#end) this.#socket.pause()
  }

  resume(): void {
    if (!this.#end) this.#socket.resume()
  }

  destroy(): void {
    if (this.#end) return
    this.#socket.destroy()
    this.#finish('cut')
  }
}

/** Whoever asked reads at once: mostly there is one read, and never are there many. */
const maxEarlyBytes = 256 * 1024
