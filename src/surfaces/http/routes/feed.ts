import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { createRoute, z } from '@hono/zod-openapi'
import { eventWithoutDetail, seesDetail } from '../../../domain/auth/detail.ts'
import { didYouMean } from '../../../domain/base/nearest.ts'
import { PawlError } from '../../../domain/error.ts'
import { type EventType, eventTypes } from '../../../domain/event/event.ts'
import { Name, TaskId } from '../../../domain/id.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, pageOf, problems, schemas, strict } from '../schemas.ts'
import { streamHeaders } from '../sse.ts'

const Cursor = z.string().regex(/^[\w-]{1,20000}$/, 'a cursor is the id of an event of this stream, or 0')

/** Names of types, or beginnings of them that end in a dot. */
const Types = z
  .string()
  .max(2_000)
  .transform((text, refuse) =>
    text.split(',').flatMap((name): EventType[] => {
      const found = eventTypes.filter((type) => type === name || (name.endsWith('.') && type.startsWith(name)))
      if (found.length === 0)
        refuse.addIssue({ code: 'custom', message: `"${name.slice(0, 100)}" is no type of event${didYouMean(name, eventTypes)}` })
      return found
    }),
  )

const feed = createRoute({
  method: 'get',
  path: `${api}/events`,
  ...needs('read'),
  summary: 'What happens to all tasks: a live stream, or a page with `Accept: application/json`.',
  request: {
    query: strict({
      after: Cursor.optional().openapi({
        description:
          'Goes on after the event with this id; 0 begins with the oldest. Left out: from now on, or a page of the oldest.',
      }),
      limit: z.coerce.number().int().min(1).max(1000).default(200).openapi({ description: 'Of a page; a stream has no limit.' }),
      task: TaskId.optional(),
      agent: Name.optional(),
      type: Types.optional().openapi({
        type: 'string',
        description: 'Types of events with commas between them; `task.` means all that begin so.',
      }),
    }),
    headers: z.object({ 'last-event-id': Cursor.optional().openapi({ description: 'Resumes a stream; wins over `after`.' }) }),
  },
  responses: {
    200: {
      description:
        'The events of each task come in their order, each once. Those of different tasks come in the order in which they were written down, transaction by transaction, which is nearly but not always that of `at`; after a restore or an import, what came from elsewhere comes where it was taken in. The last event of every batch has an `id`, with which a stream is resumed.',
      content: {
        'text/event-stream': { schema: z.string() },
        ...json(pageOf(schemas.Event), '').content,
      },
    },
    ...problems,
  },
})

export function feedRoutes(app: App, { runtime, streams }: Parts): void {
  app.openapi(feed, async (c) => {
    const { after: asked, limit, task, agent, type: types } = c.req.valid('query')
    const filter = { task, agent, types }
    const shown = seesDetail(callerOf(c).standing) ? undefined : eventWithoutDetail
    const accept = c.req.header('accept') ?? ''
    if (accept.includes('application/json') && !accept.includes('text/event-stream')) {
      const { events, cursor, isLast } = await runtime.readFeed({ ...filter, after: asked ?? '0', limit })
      return c.json({ items: events.map((event) => shown?.(event) ?? event), next: isLast ? null : cursor }, 200)
    }
    if (c.req.method === 'HEAD') return new Response(null, { headers: streamHeaders })
    const outgoing = c.env?.outgoing
    if (!outgoing) throw new PawlError('unsupported', 'A stream needs a connection; ask with "Accept: application/json".')
    const after = c.req.valid('header')['last-event-id'] ?? asked
    await streams.openFeed(outgoing, { filter, after, shown, isStillIn: c.get('isStillIn') })
    return new Response(null, RESPONSE_ALREADY_SENT)
  })
}
