import { PawlError } from '../domain/error.ts'
import type { Category } from '../domain/outcome.ts'

/** A run that cannot be carried out, known before or instead of the agent's verdict. */
export class RunFailure extends Error {
  readonly category: Category
  constructor(category: Category, message: string) {
    super(message)
    this.category = category
  }
}

/** What is refused in here ends the run with this category; anything else is a mistake of ours and passes on. */
export async function failingAs<T>(category: Category, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof PawlError) throw new RunFailure(category, error.message)
    throw error
  }
}
