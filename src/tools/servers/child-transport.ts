import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/client'
import type { Child, Exit } from '../../sandbox/process/child.ts'

export interface ChildTransport extends Transport {
  /** What it wrote to standard error last. */
  complaint(): string
  /** Undefined while it lives. */
  readonly exit: Exit | undefined
  /** By these two the SDK knows a program from an address: silence of a program means that it is an old one. */
  readonly pid: number
  readonly stderr: null
}

/** The largest message; a server that never ends its line costs no more. */
export const mostMessageBytes = 10 * 1024 * 1024
const mostComplaintChars = 4_000
const graceMs = 2_000

/** Messages as lines of a program's input and output. Closing it ends the program and all that it started. */
export function childTransport(child: Child): ChildTransport {
  const buffer = new ReadBuffer({ maxBufferSize: mostMessageBytes })
  let complaint = ''
  let exit: Exit | undefined
  let isClosed = false
  let closing: Promise<unknown> | undefined

  const transport: ChildTransport = {
    async start() {
      child.stdout.on('data', (chunk: Buffer) => {
        try {
          buffer.append(chunk)
        } catch (error) {
          transport.onerror?.(error as Error)
          return void transport.close()
        }
        read()
      })
      child.stderr.on('data', (chunk: Buffer) => {
        complaint = (complaint + chunk.toString('utf8')).slice(-mostComplaintChars)
      })
      child.stdin.on('error', (error) => transport.onerror?.(error))
      void child.exited.then((seen) => {
        exit = seen
        end()
      })
    },
    send(message) {
      return new Promise((resolve, reject) => {
        if (exit || isClosed) return reject(new Error('the program has ended'))
        child.stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()))
      })
    },
    async close() {
      closing ??= (async () => {
        child.stdin.end()
        await child.stop({ graceMs })
      })()
      await closing.catch(() => undefined)
      end()
    },
    pid: child.pid,
    stderr: null,
    complaint: () => complaint.trim(),
    get exit() {
      return exit
    },
  }

  /** What is no message is somebody's print statement, and does no harm. */
  function read(): void {
    for (;;) {
      let message: JSONRPCMessage | null
      try {
        message = buffer.readMessage()
      } catch (error) {
        transport.onerror?.(error as Error)
        continue
      }
      if (message === null) return
      transport.onmessage?.(message)
    }
  }

  function end(): void {
    if (isClosed) return
    isClosed = true
    transport.onclose?.()
  }

  return transport
}
