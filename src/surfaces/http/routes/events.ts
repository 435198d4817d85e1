import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { createRoute, z } from '@hono/zod-openapi'
import { eventWithoutDetail, seesDetail } from '../../../domain/auth/detail.ts'
import { mayUse } from '../../../domain/auth/role.ts'
import { PawlError } from '../../../domain/error.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, pageOf, problems, schemas, strict } from '../schemas.ts'
import { streamHeaders } from '../sse.ts'
import { TaskPath } from './tasks.ts'

const Seq = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

const events = createRoute({
  method: 'get',
  path: `${api}/tasks/{id}/events`,
  ...needs('read_task'),
  summary: 'What happened to a task: a live stream, or a page with `Accept: application/json`.',
  request: {
    params: TaskPath,
    query: strict({
      after: Seq.optional().openapi({ description: 'Only events with a higher number.' }),
      limit: z.coerce.number().int().min(1).max(1000).default(200).openapi({ description: 'Of a page; a stream has no limit.' }),
      attends: z
        .literal('true')
        .optional()
        .openapi({ description: 'A person follows who can answer: a question then waits a moment before its run ends.' }),
      partial: z.literal('1').optional().openapi({
        description:
          'Also tells what the agent is saying while it says it, in messages named `partial` that have no id: `{run, n, kind, at, text}`, where `text` takes the place of everything from `at` on in what the run says as number `n`. Best effort, and never stored.',
      }),
      until: z.literal('rest').optional().openapi({ description: 'Ends the stream when the task has come to rest.' }),
    }),
    headers: z.object({ 'last-event-id': Seq.optional().openapi({ description: 'Resumes a stream; wins over `after`.' }) }),
  },
  responses: {
    200: {
      description: 'Each event of a stream has its number as `id` and itself as `data`.',
      content: {
        'text/event-stream': { schema: z.string() },
        ...json(pageOf(schemas.Event), '').content,
      },
    },
    ...problems,
  },
})

export function eventRoutes(app: App, { runtime, streams }: Parts): void {
  app.openapi(events, async (c) => {
    const task = c.req.valid('param').id
    const { after: asked, limit, until, attends, partial } = c.req.valid('query')
    const shown = seesDetail(callerOf(c).standing) ? undefined : eventWithoutDetail
    const accept = c.req.header('accept') ?? ''
    if (accept.includes('application/json') && !accept.includes('text/event-stream')) {
      const found = await runtime.readEvents(task, { after: asked ?? 0, limit: limit + 1 })
      const items = found.slice(0, limit).map((event) => shown?.(event) ?? event)
      return c.json({ items, next: found.length > limit ? String(items.at(-1)?.seq) : null }, 200)
    }
    if (c.req.method === 'HEAD') {
      await runtime.getTask(task)
      return new Response(null, { headers: streamHeaders })
    }
    const outgoing = c.env?.outgoing
    if (!outgoing) throw new PawlError('unsupported', 'A stream needs a connection; ask with "Accept: application/json".')
    const after = c.req.valid('header')['last-event-id'] ?? asked ?? 0
    await streams.open(outgoing, {
      task,
      after,
      shown,
      untilRest: until === 'rest',
      partial: partial === '1',
      // A run waits for whoever attends it, so it must be somebody who can answer.
      attends: attends === 'true' && mayUse('work', c.get('principal').standing),
      isStillIn: c.get('isStillIn'),
    })
    return new Response(null, RESPONSE_ALREADY_SENT)
  })
}
