import type { Context, MiddlewareHandler } from 'hono'
import { PawlError } from '../../domain/error.ts'
import { megabyte, mostUploadMb } from '../../domain/files/limits.ts'
import type { MountedRoute } from '../mount.ts'
import { api, type HttpEnv } from './app.ts'
import { notJson, Refusal } from './errors.ts'

const kib = 1024
export const maxBodyBytes = 1024 * kib
/**
 * A prompt may have 10,000,000 bytes, and JSON writes a newline or a quote with two: twice the prompt and room for the rest.
 * A prompt of nothing but control characters (six bytes each) belongs into a file of the workspace.
 */
export const maxTaskBodyBytes = 20 * 1024 * kib

/** JSON or nothing, as it is or not at all, and not too much of it. Runs after the gate: a stranger's body is never read. */
export function createBodyCheck(mountedFor: (c: Context<HttpEnv>) => MountedRoute | undefined): MiddlewareHandler<HttpEnv> {
  const general = limitTo(maxBodyBytes)
  const forTasks = limitTo(maxTaskBodyBytes)
  return async (c, next) => {
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return next()
    const encoding = c.req.header('content-encoding')
    if (encoding !== undefined && encoding !== 'identity') {
      throw new Refusal(415, 'unsupported', 'A compressed body is not taken; send it as it is.', { Connection: 'close' })
    }
    const type = c.req.header('content-type')
    const hasBody = c.req.header('transfer-encoding') !== undefined || Number(c.req.header('content-length') ?? 0) > 0
    // Our own sign-in page has no script, so it sends a form; the gate has seen that it is ours.
    const isForm = c.req.path === '/sign-in' || c.req.path === '/sign-out'
    if (isForm && (type === undefined || /^application\/x-www-form-urlencoded(;|$)/i.test(type))) return general(c, next)
    // It streams to disk, counted on its way; a stated length is looked at before anything is read.
    if (c.req.path === `${api}/uploads` && c.req.method === 'POST') {
      if (!/^application\/octet-stream(;|$)/i.test(type ?? ''))
        throw new Refusal(415, 'unsupported', 'A file is sent as it is, with "Content-Type: application/octet-stream".', {
          Connection: 'close',
        })
      if (Number(c.req.header('content-length') ?? 0) > mostUploadMb * megabyte) throw tooLarge(mostUploadMb * megabyte)
      return next()
    }
    // Taken line by line.
    if (c.req.path === `${api}/import` && c.req.method === 'POST') {
      if (!/^application\/(x-ndjson|octet-stream)(;|$)/i.test(type ?? ''))
        throw new Refusal(415, 'unsupported', 'An export is sent as it is, with "Content-Type: application/x-ndjson".', {
          Connection: 'close',
        })
      return next()
    }
    const mounted = mountedFor(c)
    if (mounted) {
      const given = (type ?? '').split(';', 1)[0]!.trim().toLowerCase()
      if (hasBody && given !== 'application/json' && !mounted.bodyTypes?.includes(given)) throw notJson()
      return limitTo(mounted.maxBodyBytes ?? maxBodyBytes)(c, next)
    }
    // A page may send text/plain or a form to any address without asking first; JSON it may not.
    if ((type !== undefined || hasBody) && !/^application\/json(;|$)/i.test(type ?? '')) throw notJson()
    const isTask = c.req.path === `${api}/tasks` || c.req.path === `${api}/tasks/batch`
    return isTask ? forTasks(c, next) : general(c, next)
  }
}

export const tooLarge = (maxBytes: number) =>
  new Refusal(413, 'invalid', `The body is larger than ${maxBytes} bytes.`, { Connection: 'close' })

function limitTo(maxBytes: number): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    // A stated length is held to by the HTTP parser itself; a body in chunks is counted here.
    if (Number(c.req.header('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
    if (c.req.header('transfer-encoding') !== undefined) {
      const body = await readAtMost(maxBytes, c.req.raw.body)
      if (!body) throw tooLarge(maxBytes)
      c.req.raw = new Request(c.req.url, { method: c.req.method, headers: c.req.header(), body })
    }
    return next()
  }
}

async function readAtMost(maxBytes: number, stream: AsyncIterable<Uint8Array> | null) {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of stream ?? []) {
      size += chunk.length
      if (size > maxBytes) return undefined
      chunks.push(chunk)
    }
  } catch (error) {
    throw new PawlError('invalid', 'The body broke off before its end.', { cause: error })
  }
  return Buffer.concat(chunks)
}
