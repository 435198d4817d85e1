import { createRoute, z } from '@hono/zod-openapi'
import { linesOf } from '../../../domain/base/lines-of.ts'
import { PawlError } from '../../../domain/error.ts'
import { TaskId } from '../../../domain/id.ts'
import { Imported } from '../../../domain/view/transfer.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'

/** Its type hides that the name has JSON in it: what is sent is no JSON value. */
const lines: Record<string, { schema: z.ZodString }> = { 'application/x-ndjson': { schema: z.string() } }
const few = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(TaskId).max(100))
  .optional()
  .openapi({ type: 'string', description: 'Only these tasks, with their sessions and profiles: ids with commas between them.' })

const give = createRoute({
  method: 'get',
  path: `${api}/export`,
  ...needs('administer'),
  summary:
    'Tasks with all that belongs to them, sessions, schedules, as JSON lines (docs/export.md) and as they are at one moment. No users, tokens or secrets. One at a time.',
  request: { query: strict({ task: few }) },
  responses: { 200: { description: 'One object a line.', content: lines }, ...problems },
})

const take = createRoute({
  method: 'post',
  path: `${api}/import`,
  ...needs('administer'),
  summary:
    'Take in the lines of an export, beside what is here. A task that is here already is skipped, each other one is there whole or not at all; the same lines may be sent again.',
  request: { query: strict({}), body: { required: true, content: lines } },
  responses: { 200: json(z.object(Imported.shape).openapi('Imported'), 'What became of its tasks.'), ...problems },
})

export function transferRoutes(app: App, { runtime }: Parts): void {
  app.openapi(give, async (c) => {
    const { task: tasks } = c.req.valid('query')
    for (const id of tasks ?? []) await runtime.getTask(id)
    const all = runtime.exportTasks({ tasks }, callerOf(c))[Symbol.asyncIterator]()
    // What is wrong before the first line is an answer of its own; after it the stream breaks off.
    const first = await all.next()
    const answer: Response = c.body(streamed(first, all), 200, {
      'Content-Type': 'application/x-ndjson',
      'Content-Disposition': 'attachment; filename="pawl-export.jsonl"',
    })
    return answer
  })
  app.openapi(take, async (c) => c.json(await runtime.importTasks(linesOf(textOf(c.req.raw.body)), callerOf(c)), 200))
}

/** Reads on only as fast as it is taken. */
function streamed(first: IteratorResult<string>, all: AsyncIterator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let next: Promise<IteratorResult<string>> = Promise.resolve(first)
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await next
      if (done) return controller.close()
      controller.enqueue(encoder.encode(`${value}\n`))
      next = all.next()
      // Whoever pulls next is told.
      next.catch(() => undefined)
    },
    async cancel() {
      await all.return?.()
    },
  })
}

async function* textOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const piece of body ?? []) yield decoder.decode(piece, { stream: true })
    yield decoder.decode()
  } catch (error) {
    throw new PawlError('invalid', 'The body broke off before its end, or is no UTF-8; what came whole is taken.', {
      cause: error,
    })
  }
}
