import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Server as NetServer } from 'node:net'
import { PawlError } from '../domain/error.ts'
import { QuestionAsked } from '../domain/question.ts'

/** What an agent may ask of Pawl through the listener inside its walls. The connection says which run it is; the token guards a shared loopback. */
export interface DoorVerbs {
  ask(question: QuestionAsked): Promise<{ id: string }>
  describe(): { task: string; run: string; attempt: number }
}

const maxBodyBytes = 256 * 1024

/** Serves the run's own small API on a listener that the walls handed out. Closing it ends every connection. */
export function serveDoor(listener: NetServer, options: { token: string; verbs: DoorVerbs }): { close(): Promise<void> } {
  const http = createServer({ requestTimeout: 30_000, headersTimeout: 10_000, maxHeaderSize: 16 * 1024 }, (request, response) => {
    handle(request, options).then(
      ({ status, body }) => reply(response, status, body),
      (error: unknown) => {
        const known = error instanceof PawlError
        reply(response, known ? (error.code === 'invalid' ? 400 : 409) : 500, {
          error: known ? error.message : 'Pawl could not serve this; its log says why.',
        })
      },
    )
  })
  listener.on('connection', (socket) => http.emit('connection', socket))
  return {
    async close() {
      http.closeAllConnections()
      await new Promise<void>((closed) => listener.close(() => closed()))
    },
  }
}

async function handle(
  request: IncomingMessage,
  { token, verbs }: { token: string; verbs: DoorVerbs },
): Promise<{ status: number; body: unknown }> {
  if (!bearerIs(request, token))
    return { status: 401, body: { error: 'Send the token of PAWL_DOOR_TOKEN as "Authorization: Bearer".' } }
  const route = `${request.method} ${request.url}`
  if (route === 'GET /v1/run') return { status: 200, body: verbs.describe() }
  if (route === 'POST /v1/questions') {
    const parsed = QuestionAsked.safeParse(await readJson(request))
    if (!parsed.success)
      throw new PawlError(
        'invalid',
        parsed.error.issues.map((issue) => `${issue.path.join('.') || 'question'}: ${issue.message}`).join('; '),
      )
    return { status: 202, body: await verbs.ask(parsed.data) }
  }
  return { status: 404, body: { error: 'There are GET /v1/run and POST /v1/questions here.' } }
}

function bearerIs(request: IncomingMessage, token: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? '')
  const wanted = Buffer.from(`Bearer ${token}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > maxBodyBytes) throw new PawlError('invalid', `The body is larger than ${maxBodyBytes} bytes.`)
    chunks.push(chunk as Buffer)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    throw new PawlError('invalid', 'The body is not JSON.')
  }
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', connection: 'close' })
    .end(JSON.stringify(body))
}
