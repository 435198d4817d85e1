import type { IncomingMessage } from 'node:http'
import { type Fields, fieldsOf } from '../../domain/base/object.ts'
import { messageOf } from '../../domain/error.ts'
import { connectAsNamed, createHttpClient, type HttpRequest, readBody } from '../../sandbox/egress/http-client.ts'
import { lineBatches } from '../../sandbox/process/lines.ts'
import { parseJson } from '../shared/json.ts'
import { cut } from '../shared/text.ts'

export const ownEndpoint = 'http://127.0.0.1:11434'

/** Of the server; the program is part of Pawl. */
export const install = 'curl -fsSL https://ollama.com/install.sh | sh'

/** An Ollama server, as Pawl itself asks it: what it has, what a model can, and to fetch one. The loop inside the walls asks only to chat. */
export interface OllamaServer {
  readonly url: string
  version(): Promise<Asked<string>>
  models(): Promise<Asked<string[]>>
  show(model: string): Promise<Asked<Shown>>
  /** Tells how far it is. */
  pull(model: string, told: (progress: string) => Promise<void> | void, signal: AbortSignal): Promise<Asked<true>>
}

export type Asked<T> =
  | { readonly value: T }
  /** It answered, and not with that. */
  | { readonly status: number; readonly said: string }
  /** It did not answer. */
  | { readonly unreachable: string }

export interface Shown {
  readonly capabilities: readonly string[] | undefined
  /** What the model was made for. */
  readonly contextLength: number | undefined
  /** What its Modelfile sets. */
  readonly numCtx: number | undefined
}

const patienceMs = 4_000
const mostAnswerBytes = 64 * 1024 * 1024
/** Of a download that says nothing. */
const pullSilenceMs = 120_000
/** A run that says nothing for minutes would be taken for dead. */
const pullTellMs = 15_000

export function ollamaServer(endpoint: string | undefined): OllamaServer {
  const url = (endpoint ?? ownEndpoint).replace(/\/+$/, '')
  return {
    url,
    version: () => ask(url, '/api/version', undefined, ({ version }) => String(version ?? 'unknown')),
    models: () => ask(url, '/api/tags', undefined, ({ models }) => objects(models).flatMap(({ name }) => textOr(name) ?? [])),
    show: (model) => ask(url, '/api/show', { model }, readShown),
    pull: (model, told, signal) => pull(url, model, told, signal),
  }
}

const objects = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : [])
const textOr = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
const countOr = (value: unknown) => (typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined)

async function ask<T>(url: string, path: string, body: object | undefined, read: (answer: Fields) => T): Promise<Asked<T>> {
  const client = createHttpClient(connectAsNamed)
  try {
    const answer = await client.send(new URL(`${url}${path}`), { ...posting(body), signal: AbortSignal.timeout(patienceMs) })
    const text = (await readBody(answer, mostAnswerBytes)).toString('utf8')
    if (!isOk(answer)) return { status: answer.statusCode ?? 0, said: saidIn(text) }
    const parsed = parseJson(text)
    return 'value' in parsed ? { value: read(fieldsOf(parsed.value)) } : { unreachable: 'what answers there is no Ollama server' }
  } catch (thrown) {
    return { unreachable: reasonOf(thrown) }
  } finally {
    client.close()
  }
}

const isOk = ({ statusCode = 0 }: IncomingMessage) => statusCode >= 200 && statusCode < 300

const posting = (body: object | undefined): Omit<HttpRequest, 'signal'> =>
  body ? { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}

function saidIn(text: string): string {
  const parsed = parseJson(text)
  return cut(textOr('value' in parsed ? fieldsOf(parsed.value).error : undefined) ?? text, 500)
}

/** What went wrong stands below what the client says of it. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof DOMException) return `no answer within ${patienceMs / 1000} s`
  const cause = thrown instanceof Error ? thrown.cause : undefined
  return cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? messageOf(cause)) : messageOf(thrown)
}

function readShown({ capabilities, model_info, parameters }: Fields): Shown {
  const length = Object.entries(fieldsOf(model_info)).find(([name]) => name.endsWith('.context_length'))?.[1]
  const numCtx = /^num_ctx\s+(\d+)\s*$/m.exec(textOr(parameters) ?? '')?.[1]
  return {
    capabilities: Array.isArray(capabilities) ? capabilities.flatMap((name) => textOr(name) ?? []) : undefined,
    contextLength: countOr(length),
    numCtx: numCtx === undefined ? undefined : countOr(Number(numCtx)),
  }
}

/** Each line tells the state of one layer; told on are whole tenths, and now and then that it goes on. */
async function pull(
  url: string,
  model: string,
  told: (progress: string) => Promise<void> | void,
  signal: AbortSignal,
): Promise<Asked<true>> {
  const client = createHttpClient(connectAsNamed)
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), pullSilenceMs)
  try {
    const answer = await client.send(new URL(`${url}/api/pull`), {
      ...posting({ model, stream: true }),
      signal: AbortSignal.any([signal, silence.signal]),
    })
    if (!isOk(answer))
      return { status: answer.statusCode ?? 0, said: saidIn((await readBody(answer, mostAnswerBytes)).toString('utf8')) }
    let last = ''
    let toldAt = 0
    for await (const lines of lineBatches(answer)) {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), pullSilenceMs)
      for (const { text } of lines) {
        const parsed = parseJson(text)
        const line = 'value' in parsed ? fieldsOf(parsed.value) : {}
        const error = textOr(line.error)
        if (error !== undefined) return { status: 500, said: cut(error, 500) }
        if (line.status === 'success') return { value: true }
        const progress = progressOf(line)
        if (progress === '' || (progress === last && performance.now() - toldAt < pullTellMs)) continue
        await told(progress)
        last = progress
        toldAt = performance.now()
      }
    }
    return { unreachable: 'the download broke off' }
  } catch (thrown) {
    return { unreachable: silence.signal.aborted ? `nothing came for ${pullSilenceMs / 1000} s` : reasonOf(thrown) }
  } finally {
    clearTimeout(timer)
    client.close()
  }
}

function progressOf({ status, total, completed }: Fields): string {
  const whole = countOr(total)
  if (whole === undefined) return textOr(status) ?? ''
  const tenths = Math.floor(((countOr(completed) ?? 0) / whole) * 10) * 10
  return `${textOr(status) ?? 'pulling'}: ${tenths} % of ${megabytes(whole)}`
}

const megabytes = (bytes: number) => `${Math.max(1, Math.round(bytes / 1_000_000))} MB`
