import { asObject, type Fields } from '../../domain/base/object.ts'
import type { Child, Exit } from '../../sandbox/process/child.ts'
import { createLineSplitter, type Line } from '../../sandbox/process/lines.ts'
import { text } from './fields.ts'
import { parseLine } from './json.ts'
import { readChild } from './read-child.ts'
import { cut } from './text.ts'

/** Where programs write it, though nothing says that they must. */
const methodFirst = /^\{"method":"([\w/]+)"/
const maxLineBytes = 16 * 1024 * 1024
/** What JSON-RPC says of a method that nobody serves. */
export const methodNotFound = -32601

export type RequestId = string | number
export type Params = Fields

export type Reply =
  | { readonly result: Params }
  | { readonly error: RpcError }
  /** The program ended, or the connection was let go, before it replied. */
  | { readonly gone: true }

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

export interface Listener {
  notified(method: string, params: Params, line: string): Promise<void> | void
  /** Must be answered or refused, at once or later. Not waited for: what the program says meanwhile is heard. */
  requested(id: RequestId, method: string, params: Params): Promise<void> | void
  notUnderstood(line: string): Promise<void> | void
  /** Notifications that are not even parsed. */
  ignores?(method: string): boolean
  /** Nothing more is at hand. */
  paused(): Promise<void> | void
  stderr(chunk: Buffer): Promise<void> | void
}

/** JSON-RPC by lines over the pipes of a child. */
export interface JsonRpc {
  request(method: string, params: Params): Promise<Reply>
  notify(method: string, params?: Params): void
  answer(id: RequestId, result: Params): void
  refuse(id: RequestId, message: string, code?: number): void
  /** How the program ended; undefined if it was let go first. Rejects if a listener failed. */
  readonly ended: Promise<Exit | undefined>
  close(): void
}

/** `version` is the field that names the protocol; some programs leave it out. */
export function connect(child: Child, listener: Listener, { version }: { version?: '2.0' } = {}): JsonRpc {
  const replies = new Map<RequestId, (reply: Reply) => void>()
  const released = new AbortController()
  let lines: Line[] = []
  let nextId = 0
  const splitter = createLineSplitter({
    maxBytes: maxLineBytes,
    onLine: (line, truncatedBytes) => lines.push({ text: line, truncatedBytes }),
  })

  function send(message: object): void {
    if (child.stdin.writable) child.stdin.write(`${JSON.stringify(version ? { jsonrpc: version, ...message } : message)}\n`)
  }
  async function takeLines(): Promise<void> {
    const taken = lines
    lines = []
    for (const line of taken) if (line.text.trim() !== '') await take(line)
    await listener.paused()
  }
  async function take(line: Line): Promise<void> {
    // Most of the stream are pieces of what comes whole later.
    const ignored = listener.ignores && methodFirst.exec(line.text)?.[1]
    if (ignored !== undefined && listener.ignores?.(ignored)) return
    const parsed = parseLine(line)
    const message = 'value' in parsed ? asObject(parsed.value) : undefined
    const id = message?.id
    const hasId = typeof id === 'string' || typeof id === 'number'
    const method = text(message?.method)
    if (!message) return listener.notUnderstood(line.text)
    if (method !== undefined && !hasId) return listener.notified(method, asObject(message.params) ?? {}, line.text)
    if (method !== undefined && hasId) return void listener.requested(id, method, asObject(message.params) ?? {})
    const reply = hasId ? replies.get(id) : undefined
    if (!reply || !hasId) return listener.notUnderstood(line.text)
    replies.delete(id)
    reply(readReply(message))
  }

  const ended = readChild(child, {
    signal: released.signal,
    async stdout(chunk) {
      splitter.push(chunk)
      await takeLines()
    },
    stderr: (chunk) => listener.stderr(chunk),
  }).then(async (exit) => {
    splitter.end()
    await takeLines()
    return exit
  })

  return {
    ended,
    request(method, params) {
      const id = ++nextId
      return new Promise((done) => {
        replies.set(id, done)
        const gone = () => done({ gone: true })
        ended.then(gone, gone)
        send({ id, method, params })
      })
    },
    notify: (method, params) => send({ method, ...(params && { params }) }),
    answer: (id, result) => send({ id, result }),
    refuse: (id, message, code = methodNotFound) => send({ id, error: { code, message } }),
    close() {
      released.abort()
      child.stdin.end()
    },
  }
}

function readReply(message: Params): Reply {
  const error = asObject(message.error)
  if (!error) return { result: asObject(message.result) ?? {} }
  return {
    error: {
      code: typeof error.code === 'number' ? error.code : 0,
      message: cut(text(error.message) ?? 'It gave no reason.', 2000),
      data: error.data,
    },
  }
}
