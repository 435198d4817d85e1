import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import { PawlError } from '../../domain/error.ts'

const maxBodyBytes = 256 * 1024
/** A sender that is cut off in the middle of its body does not read the refusal, so a bit more than allowed is taken and thrown away. */
const maxDrainedBytes = 8 * 1024 * 1024

/** The whole body, as the schema wants it. Refuses in a sentence what does not fit. */
export async function readBody<T>(request: IncomingMessage, schema: z.ZodType<T>, name: string): Promise<T> {
  const chunks: Buffer[] = []
  const size = await drain(request, (chunk, sizeWithIt) => {
    if (sizeWithIt <= maxBodyBytes) chunks.push(chunk)
  })
  if (size > maxBodyBytes) throw new PawlError('invalid', `The body is larger than ${maxBodyBytes} bytes.`)
  const parsed = schema.safeParse(parseJson(Buffer.concat(chunks).toString('utf8')))
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.') || name}: ${issue.message}`)
  throw new PawlError('invalid', faults.join('; '))
}

/** Reads the body to its end, or as far as anybody may expect us to. Returns how much there was. */
export async function drain(request: IncomingMessage, take?: (chunk: Buffer, sizeWithIt: number) => void): Promise<number> {
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    take?.(chunk, size)
    if (size > maxDrainedBytes) break
  }
  return size
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new PawlError('invalid', 'The body is not JSON.')
    throw error
  }
}
