import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRedactor } from '../../redact/redactor.ts'
import { bytesOf } from './frames.ts'
import { createMatcher, isDivergence } from './match.ts'
import { normaliser } from './normalise.ts'
import type { Recording } from './read.ts'
import { withoutKey } from './recorder.ts'
import { bodyReader, sayDivergence } from './replay.ts'

export interface RecordedModel {
  /** What a program is given as the base URL of its model. */
  readonly url: string
  close(): Promise<void>
}

export interface RecordedModelOptions {
  readonly port: number
  /** Where the program works that asks, if that is elsewhere than in the recorded run. */
  readonly workspace?: string | undefined
  /** Only what was said since the first answer is compared, not what programs say of themselves, the place and the model before it. */
  readonly isLoose?: boolean | undefined
  /** Answers come as slowly as they came when they were recorded. */
  readonly isPaced?: boolean | undefined
  /** Told of every request: the number of the recorded call, or why there is none. */
  readonly onCall?: ((told: { call: number } | { left: string }) => void) | undefined
}

/** A model that says what it said in a recording, to programs on this machine only. The same request is answered again each time it comes. */
export async function serveRecording(recording: Recording, options: RecordedModelOptions): Promise<RecordedModel> {
  const { start, calls } = recording
  const places = [
    ...(start
      ? [
          { path: start.workspace, as: 'workspace' },
          { path: start.home, as: 'home' },
        ]
      : []),
    ...(options.workspace === undefined ? [] : [{ path: options.workspace, as: 'workspace' }]),
  ]
  const matcher = createMatcher(calls, { normalise: normaliser(places), mayRepeat: true, anyModel: options.isLoose })
  const read = bodyReader(createRedactor())
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: Buffer[] = []
    for await (const chunk of request) body.push(chunk as Buffer)
    const found = matcher.take({
      method: request.method ?? 'GET',
      path: withoutKey(belowPrefix(request.url ?? '/')),
      body: read(Buffer.concat(body)),
    })
    if (isDivergence(found) || !found.answer) {
      const left = isDivergence(found) ? sayDivergence(found) : `Call ${found.number} was recorded without an answer.`
      options.onCall?.({ left })
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', code: 400, message: left } }))
      return
    }
    options.onCall?.({ call: found.number })
    const { status, headers, frames } = found.answer
    response.writeHead(status, headers)
    const startedAt = performance.now()
    let at = 0
    for (const bytes of bytesOf(frames)) {
      const waitMs = options.isPaced ? frames[at]![0] - (performance.now() - startedAt) : 0
      at++
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
      if (response.destroyed) return
      response.write(bytes)
    }
    response.end()
  }
}

/** Programs that are pointed at it as they are at a door, or by the older address, reach the same. */
const belowPrefix = (url: string) => url.replace(/^\/(?:model|api\/llm-proxy(?:\/s\/[^/]+)?)(?=\/)/, '')
