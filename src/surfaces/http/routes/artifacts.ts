import { createRoute, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { replaceHidden } from '../../../domain/base/visible.ts'
import { servedType } from '../../../domain/files/file-type.ts'
import { ArtifactView } from '../../../domain/files/view.ts'
import { ArtifactId, TaskId } from '../../../domain/id.ts'
import { type App, api, type HttpEnv, type Parts } from '../app.ts'
import { byteRange } from '../byte-range.ts'
import { streamOf } from '../file-stream.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'

const Artifact = z.object(ArtifactView.shape).openapi('Artifact')

const list = createRoute({
  method: 'get',
  path: `${api}/tasks/{id}/artifacts`,
  ...needs('read_task'),
  summary: 'The files that the runs of a task have left for people, by name.',
  request: { params: z.object({ id: TaskId }), query: strict({}) },
  responses: { 200: json(z.object({ items: z.array(Artifact), next: z.null() }), 'All of them.'), ...problems },
})

const binary = { 'application/octet-stream': { schema: z.string().openapi({ type: 'string', format: 'binary' }) } }
const read = createRoute({
  method: 'get',
  path: `${api}/tasks/{id}/artifacts/{artifact}`,
  ...needs('read_task'),
  summary: 'What one of them holds, or the part that Range asks for. Never shown as a page.',
  request: { params: z.object({ id: TaskId, artifact: ArtifactId }), query: strict({}) },
  responses: {
    200: { description: 'All of it.', content: binary },
    206: { description: 'The part that was asked for.', content: binary },
    304: { description: 'It is what If-None-Match names.' },
    416: { description: 'The part begins after the end.' },
    ...problems,
  },
})

export function artifactRoutes(app: App, { runtime }: Parts): void {
  app.openapi(list, async (c) => c.json({ items: await runtime.listArtifacts(c.req.valid('param').id), next: null }, 200))
  app.openapi(read, async (c) => {
    const { id, artifact: named } = c.req.valid('param')
    const { artifact, content } = await runtime.readArtifact(id, named)
    const etag = `"${artifact.sha256}"`
    const headers: Record<string, string> = {
      ETag: etag,
      'Accept-Ranges': 'bytes',
      'Content-Type': servedType(artifact.type),
      'Content-Disposition': disposition(artifact.name),
      // Whatever it is, it may run nothing and load nothing.
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'Cross-Origin-Resource-Policy': 'same-origin',
    }
    const range = asked(c, etag, content.size)
    if (range === 'same' || range === 'beyond' || c.req.method === 'HEAD') {
      await content.close()
      if (range === 'same') return c.body(null, 304, { ETag: etag })
      if (range === 'beyond') return c.body(null, 416, { 'Content-Range': `bytes */${content.size}` })
    }
    const { from, to } = range === 'all' || typeof range === 'string' ? { from: 0, to: content.size } : range
    headers['Content-Length'] = String(to - from)
    if (range !== 'all') headers['Content-Range'] = `bytes ${from}-${to - 1}/${content.size}`
    return c.body(streamOf(content, { from, to }), range === 'all' ? 200 : 206, headers)
  })
}

function asked(c: Context<HttpEnv>, etag: string, size: number) {
  const known = c.req.header('if-none-match')
  if (known !== undefined && (known.trim() === '*' || known.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)))
    return 'same'
  const since = c.req.header('if-range')
  return (since === undefined || since.trim() === etag ? byteRange(c.req.header('range'), size) : undefined) ?? 'all'
}

/** A plain name for those who know no other, and the name as it is. */
function disposition(name: string): string {
  // A name that turns around or hides its end would be saved as another kind of file than it is.
  const last = replaceHidden(name.split('/').at(-1) ?? 'file', () => '_')
  const encoded = encodeURIComponent(last).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  return `attachment; filename="${last.replaceAll(/[^\w. -]/g, '_')}"; filename*=UTF-8''${encoded}`
}
