import { PawlError } from '../../domain/error.ts'
import type { Category } from '../../domain/run/outcome.ts'
import { LaunchInterrupted } from '../../sandbox/port.ts'

/** A run that cannot be carried out, known before or instead of the agent's verdict. */
export class RunFailure extends Error {
  readonly category: Category
  constructor(category: Category, message: string, cause?: unknown) {
    super(message, { cause })
    this.category = category
  }
}

/** What is refused in here ends the run with this category; anything else is a mistake of ours and passes on. */
export async function failingAs<T>(category: Category, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof PawlError) throw new RunFailure(category, error.message, error)
    throw error
  }
}

/** A sandbox that cannot be built stays so; one that was killed while it was built, or lacked a resource of the moment, is tried again. */
export async function launchingSandbox<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await failingAs('sandbox_error', work)
  } catch (error) {
    if (error instanceof RunFailure && isOfTheMoment(error.cause)) throw new RunFailure('crashed', error.message, error.cause)
    throw error
  }
}

/** Processes, memory or descriptors were used up when we asked. */
const usedUp: ReadonlySet<unknown> = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE'])

function isOfTheMoment(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error instanceof LaunchInterrupted || ('code' in error && usedUp.has(error.code)) || isOfTheMoment(error.cause)
}
