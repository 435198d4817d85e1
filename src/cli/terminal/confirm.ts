import { confirm as ask, isCancel } from '@clack/prompts'
import { drawable } from './terminal.ts'

/** Asks yes or no on the terminal; leaving the question is a no. Draws on stderr, so that results stay alone on stdout. */
export async function confirm(message: string): Promise<boolean> {
  const answer = await ask({ message: drawable(process.stderr, message), initialValue: false, output: process.stderr })
  return !isCancel(answer) && answer
}
