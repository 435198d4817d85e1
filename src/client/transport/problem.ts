import { type ErrorCode, errorCodes, PawlError } from '../../domain/error.ts'

/** A daemon's refusal as the error it was on the other side. What is no refusal of a daemon names its status. */
export function problemError(status: number, body: string): PawlError {
  const problem = parse(body)
  if (!problem) {
    return new PawlError('unavailable', `Something that is no Pawl daemon answered with status ${status}; check the address.`)
  }
  const details = {
    ...(problem.details as Record<string, unknown> | undefined),
    ...(problem.errors === undefined ? {} : { errors: problem.errors }),
    ...(problem.id === undefined ? {} : { id: problem.id }),
  }
  return new PawlError(problem.code, problem.detail, Object.keys(details).length > 0 ? { details } : {})
}

type Answer = { code: ErrorCode; detail: string } & Record<'details' | 'errors' | 'id', unknown>

function parse(body: string): Answer | undefined {
  try {
    const value = JSON.parse(body) as Partial<Answer> | null
    const isProblem = typeof value?.detail === 'string' && errorCodes.some((code) => code === value.code)
    return isProblem ? (value as Answer) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
