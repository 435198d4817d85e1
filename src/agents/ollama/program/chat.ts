import { randomUUID } from 'node:crypto'
import { asObject } from '../../../domain/base/object.ts'
import { asCount, asText, linesOf, parsed } from '../../shared/program-lines.ts'
import { Failure, failureOf } from './failure.ts'
import type { Call } from './history.ts'
import { type Posted, post, textOf } from './post.ts'

export interface Answer {
  readonly content: string
  readonly thinking: string
  readonly calls: readonly Call[]
  readonly inputTokens: number
  readonly outputTokens: number
  /** The model ran out of room in the middle. */
  readonly isCutOff: boolean
}

export interface Hearing {
  text(piece: string): void
  thinking(piece: string): void
}

/** Asks the model once, by `/api/chat`, and tells what it says as it says it. Throws a `Failure` for everything but an abort. */
export async function chat(
  at: { url: string; token?: string | undefined; signal: AbortSignal },
  request: Readonly<Record<string, unknown>>,
  hearing: Hearing,
): Promise<Answer> {
  const answer = await post(`${at.url}/api/chat`, { ...request, stream: true }, at).catch((thrown: unknown) => {
    throw unreached(at, thrown)
  })
  if (answer.status !== 200) throw await refused(answer)
  try {
    return await read(answer, hearing)
  } catch (thrown) {
    throw thrown instanceof Failure ? thrown : unreached(at, thrown)
  }
}

async function read({ body }: Posted, hearing: Hearing): Promise<Answer> {
  let content = ''
  let thinking = ''
  const calls: Call[] = []
  for await (const line of linesOf(body)) {
    if (line.trim() === '') continue
    const piece = parsed(line)
    if (!piece) throw new Failure('network', 'The model said something that is no JSON.')
    if (piece.error !== undefined) throw failureOf(500, messageOf(piece.error))
    const message = asObject(piece.message) ?? {}
    const [thought, said] = [asText(message.thinking), asText(message.content)]
    if (thought !== '') hearing.thinking(thought)
    if (said !== '') hearing.text(said)
    thinking += thought
    content += said
    calls.push(...callsIn(message.tool_calls))
    if (piece.done === true)
      return {
        ...{ content, thinking, calls },
        inputTokens: asCount(piece.prompt_eval_count),
        outputTokens: asCount(piece.eval_count),
        isCutOff: piece.done_reason === 'length',
      }
  }
  throw new Failure('network', "The model's answer broke off.")
}

/** Servers before 0.12 give a call no id; two calls never share one here, whatever the model says. */
function callsIn(value: unknown): Call[] {
  if (!Array.isArray(value)) return []
  return value.map((item: unknown) => {
    const made = asObject(asObject(item)?.function) ?? {}
    const given = typeof made.arguments === 'string' ? parsed(made.arguments) : asObject(made.arguments)
    return { id: `call_${randomUUID()}`, name: asText(made.name), arguments: given ?? {} }
  })
}

async function refused({ status, headers, body }: Posted): Promise<Failure> {
  const text = await textOf(body)
  return failureOf(status, messageOf(parsed(text)?.error ?? text), headers)
}

/** Usually bare words; sometimes the JSON of the engine inside the server, or of one that speaks as OpenAI does. */
function messageOf(error: unknown): string {
  const inner = typeof error === 'string' && error.startsWith('{') ? parsed(error) : asObject(error)
  return inner ? asText(asObject(inner.error)?.message) || asText(inner.message) || JSON.stringify(inner) : asText(error)
}

function unreached({ url, signal }: { url: string; signal: AbortSignal }, thrown: unknown): unknown {
  if (signal.aborted) return thrown
  const { code, message } = thrown as NodeJS.ErrnoException
  const hint =
    code === 'ECONNREFUSED'
      ? ' Start it with "ollama serve". Inside walls it is reached through the gateway, or by the baseUrl of the agent.'
      : ''
  return new Failure('network', `The model's server at ${url} cannot be reached: ${code ?? message}.${hint}`)
}
