import type { Hook } from '@hono/zod-openapi'
import type { z } from 'zod'
import { demand } from '../../domain/base/demand.ts'
import { invalid, notFound } from '../../domain/error.ts'
import type { HttpEnv } from './app.ts'

const places: Record<string, string> = { query: 'query', header: 'header', json: 'body', param: 'path' }

/** Turns a schema's complaint into the refusal that names each field. A path that holds no id names nothing: that is `not_found`. */
export const onInvalid: Hook<unknown, HttpEnv, string, void> = (result) => {
  if (result.success) return
  const errors = result.error.issues.map((issue) => ({ path: pathOf(issue), message: wordsOf(issue) }))
  if (result.target === 'param') throw notFound(`Nothing is under that address: ${errors[0]?.message}`)
  const place = places[result.target] ?? result.target
  const [only] = errors
  const detail =
    errors.length === 1 && only
      ? `The ${place} is not right: ${told(only)}`
      : `The ${place} has ${errors.length} mistakes; the first: ${only && told(only)}`
  throw invalid(detail, { errors })
}

const pathOf = (issue: z.core.$ZodIssue) => issue.path.map(String).join('.')

/** What our schemas say themselves stands; the words of the schema library are nobody's. */
const wordsOf = (issue: z.core.$ZodIssue) =>
  /^(Invalid|Too small|Too big|Unrecognized)/.test(issue.message) ? `${demand(issue)}.` : sentence(issue.message)
const sentence = (text: string) => (/[.?!]$/.test(text) ? text : `${text}.`)

/** With the place it is about: as a sentence of its own, or in one. */
const told = ({ path, message }: { path: string; message: string }) =>
  /^(must|cannot|needs|has|is) /.test(message) ? `${path || 'it'} ${message}` : path === '' ? message : `${path}: ${message}`
