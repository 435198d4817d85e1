import type { ServerResponse } from 'node:http'
import { named } from '../base/headers.ts'
import { endWith } from '../base/one-write.ts'
import type { CallRecorder } from '../recordings/recording.ts'
import { type Gone, GoneSignal } from './gone.ts'

/** What one client gets, told to whoever records it. */
export class ClientAnswer {
  readonly #response: ServerResponse
  readonly #gone = new GoneSignal()
  #hasWritten = false
  #isGathering = false
  recorder: CallRecorder | undefined
  /** Called when the first of it is on its way. */
  onBegin: (() => void) | undefined
  /** Called for each piece of it. */
  onPiece: (() => void) | undefined

  constructor(response: ServerResponse) {
    this.#response = response
    // Whoever writes to a client that has just gone finds out by `gone`.
    response.on('error', () => undefined)
    response.once('close', () => {
      if (response.writableFinished) return
      this.#finish('cut')
      this.#gone.abort()
    })
  }

  /** Aborts when nobody can get the answer any more. */
  get gone(): Gone {
    return this.#gone
  }

  get hasBegun(): boolean {
    return this.#response.headersSent
  }

  get hasEnded(): boolean {
    return this.#response.writableEnded
  }

  /** `headers` are names and values in turn. */
  head(status: number, headers: string[]): void {
    this.#response.writeHead(status, headers)
    this.onBegin?.()
    this.recorder?.head(status, named(headers))
    // The first piece goes out together with the head, if there is one already.
    setImmediate(() => {
      if (!this.#hasWritten && !this.#response.destroyed) this.#response.flushHeaders()
    })
  }

  /** False if the client is slower than we are. */
  write(bytes: Buffer | string): boolean {
    this.recorder?.chunk(typeof bytes === 'string' ? Buffer.from(bytes) : bytes)
    this.onPiece?.()
    this.#hasWritten = true
    this.#gather()
    return this.#response.write(bytes)
  }

  onDrain(resume: () => void): void {
    this.#response.once('drain', resume)
  }

  end(): void {
    this.#hasWritten = true
    this.#response.end()
    this.#finish('whole')
  }

  whole(status: number, headers: string[], body: Buffer): void {
    // Nothing more can be asked behind a request whose end was not read.
    if (!this.#response.req.complete) this.#response.shouldKeepAlive = false
    this.#response.writeHead(status, [...headers, 'content-length', String(body.length)])
    endWith(this.#response, body)
    this.recorder?.head(status, named(headers))
    this.recorder?.chunk(body)
    this.#finish('whole')
  }

  json(status: number, headers: Readonly<Record<string, string>>, body: unknown): void {
    this.whole(status, ['content-type', 'application/json', ...Object.entries(headers).flat()], Buffer.from(JSON.stringify(body)))
  }

  /** Breaks the connection: what is not whole must not look as if it were. */
  cut(): void {
    if (this.#response.writableFinished) return
    this.#finish('cut')
    this.#response.destroy()
    this.#gone.abort()
  }

  /** What follows from one read of the provider's leaves in one write, the end of the answer included. */
  #gather(): void {
    const { socket } = this.#response
    if (this.#isGathering || !socket) return
    this.#isGathering = true
    socket.cork()
    // Behind all that this read leads to, by ticks first and by promises then.
    queueMicrotask(() =>
      process.nextTick(() => {
        this.#isGathering = false
        socket.uncork()
      }),
    )
  }

  #finish(how: 'whole' | 'cut'): void {
    this.recorder?.end(how)
    this.recorder = undefined
  }
}
