import { createRoute, z } from '@hono/zod-openapi'
import { PawlError } from '../../../domain/error.ts'
import { mostUploadMb } from '../../../domain/files/limits.ts'
import { TooLarge } from '../../../domain/files/too-large.ts'
import { UploadView } from '../../../domain/files/view.ts'
import { UploadId } from '../../../domain/id.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { Refusal } from '../errors.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'

const Upload = z.object(UploadView.shape).openapi('Upload')
const name = z
  .string()
  .min(1)
  .max(1_000)
  .openapi({ description: 'The name of the file, without folders.', example: 'screenshot.png' })

const add = createRoute({
  method: 'post',
  path: `${api}/uploads`,
  ...needs('create'),
  summary: `Hand in a file, to be named by new tasks (\`attachments\`) within a day. At most files.uploadMb of the settings, never more than ${mostUploadMb} MiB.`,
  request: {
    query: strict({ name }),
    body: {
      required: true,
      content: { 'application/octet-stream': { schema: z.string().openapi({ type: 'string', format: 'binary' }) } },
    },
  },
  responses: { 201: json(Upload, 'The file is on disk.'), ...problems },
})

const show = createRoute({
  method: 'get',
  path: `${api}/uploads/{id}`,
  ...needs('create'),
  summary: 'What was handed in; its owner and admins see it.',
  request: { params: z.object({ id: UploadId }), query: strict({}) },
  responses: { 200: json(Upload, 'The file.'), ...problems },
})

export function uploadRoutes(app: App, { runtime }: Parts): void {
  app.openapi(add, async (c) => {
    const length = c.req.header('content-length')
    const { body } = c.req.raw
    try {
      const upload = await runtime.addUpload(
        { name: c.req.valid('query').name, content: whole(body), size: length === undefined ? undefined : Number(length) },
        callerOf(c),
      )
      return c.json(upload, 201, { Location: `${api}/uploads/${upload.id}` })
    } catch (error) {
      // Nobody reads the rest of it.
      if (error instanceof TooLarge) throw new Refusal(413, 'invalid', error.message, { Connection: 'close' })
      throw error
    }
  })
  app.openapi(show, async (c) => c.json(await runtime.getUpload(c.req.valid('param').id, callerOf(c)), 200))
}

async function* whole(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (!body) return
  const pieces = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await pieces.next().catch((error: unknown) => {
        throw new PawlError('invalid', 'The body broke off before its end.', { cause: error })
      })
      if (next.done) return
      yield next.value
    }
  } finally {
    await pieces.return?.()
  }
}
