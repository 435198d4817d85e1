import { createRoute, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { RunId, TaskId } from '../../../domain/id.ts'
import { RunLogPart } from '../../../domain/view/run-log.ts'
import { type App, api, type HttpEnv, type Parts } from '../app.ts'
import { byteRange } from '../byte-range.ts'
import { streamOf } from '../file-stream.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'

type RunLogContent = Awaited<ReturnType<Parts['runtime']['openRunLog']>>

const most = 4 * 1024 * 1024
const Bytes = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

const log = createRoute({
  method: 'get',
  path: `${api}/tasks/{id}/runs/{run}/log`,
  ...needs('work'),
  summary:
    'What the program of a run wrote itself: all of it as text, or the part that Range or `start` and `length` ask for; a piece with its place with `Accept: application/json`.',
  request: {
    params: z.object({ id: TaskId, run: RunId }),
    query: strict({
      stream: z.enum(['stdout', 'stderr']).default('stdout'),
      start: Bytes.optional().openapi({ description: 'Of the first byte. With a length alone the end of the log is answered.' }),
      length: Bytes.min(1)
        .max(most)
        .optional()
        .openapi({ description: `How many bytes at most; ${most} if only a start is given.` }),
    }),
  },
  responses: {
    200: {
      description: 'Known secrets are not in it. `Content-Range` says which part of the whole it is.',
      content: { 'text/plain': { schema: z.string() }, ...json(z.object(RunLogPart.shape).openapi('RunLogPart'), '').content },
    },
    206: { description: 'The part that Range asks for.', content: { 'text/plain': { schema: z.string() } } },
    416: { description: 'The part begins after the end.' },
    ...problems,
  },
})

export function runLogRoutes(app: App, { runtime }: Parts): void {
  app.openapi(log, async (c) => {
    const { id, run } = c.req.valid('param')
    const { stream, start, length } = c.req.valid('query')
    const wantsJson = (c.req.header('accept') ?? '').includes('application/json')
    if (!wantsJson && start === undefined && length === undefined)
      return whole(c, await runtime.openRunLog(id, run, stream), `${run}-${stream}.log`)
    const part = await runtime.readRunLog(id, run, { stream, start, length: length ?? most })
    if (wantsJson) return c.json(part, 200)
    const range = part.size === 0 ? 'bytes */0' : `bytes ${part.start}-${Math.max(part.start, part.end - 1)}/${part.size}`
    return c.text(part.text, 200, { 'Content-Range': range })
  })
}

async function whole(c: Context<HttpEnv>, content: RunLogContent, name: string) {
  const { size } = content
  const range = byteRange(c.req.header('range'), size)
  const isHead = c.req.method === 'HEAD'
  if (range === 'beyond' || isHead) await content.close()
  if (range === 'beyond') return c.body(null, 416, { 'Content-Range': `bytes */${size}` })
  const { from, to } = range ?? { from: 0, to: size }
  const headers = {
    'Accept-Ranges': 'bytes',
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Disposition': `attachment; filename="${name}"`,
    'Content-Length': String(to - from),
    ...(range ? { 'Content-Range': `bytes ${from}-${to - 1}/${size}` } : {}),
  }
  const status = range ? 206 : 200
  return isHead ? c.body(null, status, headers) : c.body(streamOf(content, { from, to }), status, headers)
}
