import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Conversation } from './conversation.ts'
import type { Failure, Reply } from './reply.ts'
import type { Step } from './scenario.ts'
import type { Wire } from './wire/wire.ts'

/** Sends a reply the way the step wants it sent: whole or in pieces, in full, slowly, or not to the end. */
export async function deliver(
  response: ServerResponse,
  wire: Wire,
  reply: Reply,
  step: Step,
  { stream, isList = false }: Pick<Conversation, 'stream' | 'isList'>,
): Promise<void> {
  const whole = () => JSON.stringify(isList ? [wire.whole(reply)] : wire.whole(reply))
  const frames = stream ? [...wire.frames(reply)] : [whole()]
  begin(response, stream ? wire.streamType : 'application/json')
  const failing = step.stall ?? step.cut ?? step.malformed
  if (!failing) {
    await send(response, frames, step.slow?.msPerChunk)
    response.end()
    return
  }
  // At least one frame is held back, so that a short answer does not arrive in full.
  const sent = Math.min(failing.afterChunks, frames.length - 1)
  await send(response, frames.slice(0, sent), step.slow?.msPerChunk)
  const next = frames[sent]!
  if (step.stall) return untilClosed(response)
  if (step.cut) {
    await send(response, [next.slice(0, next.length / 2)])
    response.destroy()
    return
  }
  await send(response, [next.replace(/\{.*/, '{"broken": ')])
  response.end()
}

export async function refuse(response: ServerResponse, wire: Wire, failure: Failure, inStream: boolean): Promise<void> {
  const { status, headers, body } = wire.refusal(failure)
  if (!inStream) {
    sendJson(response, status, body, headers)
    return
  }
  begin(response, wire.streamType, headers)
  response.end(wire.refusalFrame(failure))
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

export function sendText(response: ServerResponse, type: string, text: string): void {
  begin(response, type)
  response.end(text)
}

function begin(response: ServerResponse, type: string, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache', 'request-id': 'req_scripted', ...headers })
  response.flushHeaders()
}

/** Resolves when everything left, or the client did. */
async function send(response: ServerResponse, frames: readonly string[], msPerChunk?: number): Promise<void> {
  for (const frame of frames) {
    if (response.destroyed) return
    await new Promise<void>((resolve) => {
      response.once('close', resolve)
      response.write(frame, () => {
        response.off('close', resolve)
        resolve()
      })
    })
    if (msPerChunk !== undefined) await sleep(msPerChunk)
  }
}

const untilClosed = (response: ServerResponse) =>
  new Promise<void>((resolve) => {
    if (response.destroyed) resolve()
    else response.once('close', resolve)
  })
