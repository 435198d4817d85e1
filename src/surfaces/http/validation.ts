import type { Hook } from '@hono/zod-openapi'
import type { z } from 'zod'
import { invalid, notFound } from '../../domain/error.ts'
import type { HttpEnv } from './app.ts'

const places: Record<string, string> = { query: 'query', header: 'header', json: 'body', param: 'path' }

/** Turns a schema's complaint into the refusal that names each field. A path that holds no id names nothing: that is `not_found`. */
export const onInvalid: Hook<unknown, HttpEnv, string, void> = (result) => {
  if (result.success) return
  const errors = result.error.issues.map((issue) => ({ path: pathOf(issue), message: sentence(issue.message) }))
  if (result.target === 'param') throw notFound(`Nothing is under that address: ${errors[0]?.message}`)
  const place = places[result.target] ?? result.target
  const [only] = errors
  const detail =
    errors.length === 1 && only
      ? `The ${place} is not right: ${only.path === '' ? '' : `${only.path}: `}${only.message}`
      : `The ${place} has ${errors.length} mistakes; the first: ${only?.path}: ${only?.message}`
  throw invalid(detail, { errors })
}

const pathOf = (issue: z.core.$ZodIssue) => issue.path.map(String).join('.')
const sentence = (text: string) => (/[.?!]$/.test(text) ? text : `${text}.`)
