import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { Context } from 'hono'
import type { HttpEnv } from './app.ts'
import { Refusal } from './errors.ts'

/** Sends a file from the disk, or the one part of it that is asked for. It is always saved, never shown. */
export function sendFile(
  c: Context<HttpEnv>,
  file: { readonly path: string; readonly bytes: number; readonly name: string; readonly type: string },
): Response {
  const range = rangeOf(c.req.header('range'), file.bytes)
  const { start, end } = range ?? { start: 0, end: file.bytes - 1 }
  const headers = {
    'Content-Type': file.type,
    'Content-Disposition': `attachment; filename="${file.name.replaceAll(/[^\w.-]/g, '_')}"`,
    'Accept-Ranges': 'bytes',
    'Content-Length': String(end - start + 1),
    ...(range ? { 'Content-Range': `bytes ${start}-${end}/${file.bytes}` } : {}),
  }
  const content = Readable.toWeb(createReadStream(file.path, { start, end })) as ReadableStream<Uint8Array>
  return c.body(content, range ? 206 : 200, headers)
}

/** Several parts at once are not asked for by anything we know: then all of it is sent, as the standard allows. */
function rangeOf(header: string | undefined, size: number): { start: number; end: number } | undefined {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '')
  if (!found || (found[1] === '' && found[2] === '')) return undefined
  const [from, to] = [found[1]!, found[2]!]
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (start >= size || start > end)
    throw new Refusal(416, 'invalid', `The file has ${size} bytes; the range that is asked for lies beyond it.`, {
      'Content-Range': `bytes */${size}`,
    })
  return { start, end }
}
