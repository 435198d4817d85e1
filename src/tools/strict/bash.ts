import { z } from 'zod'
import { PawlError } from '../../domain/error.ts'
import { longestAnswer, withoutMiddle } from '../base/answer-text.ts'
import { reaching, tool } from '../base/tool.ts'
import type { Ran, RunInside, StrictParts } from './strict-parts.ts'

const usualMs = 120_000
const longestMs = 600_000

export const bashTool = ({ files, gate }: StrictParts, runInside: RunInside) =>
  tool({
    name: 'Bash',
    description: `Run a command of the shell in the workspace, inside the walls of this run. Each call is a new shell; nothing of it lives on. The answer has at most ${longestAnswer} characters.`,
    annotations: reaching,
    input: z.strictObject({
      command: z.string().min(1).max(65_536).describe('The command.'),
      timeout: z
        .int()
        .min(1)
        .max(longestMs)
        .optional()
        .describe(`Milliseconds until it is ended; ${usualMs} if left out, at most ${longestMs}.`),
      description: z.string().max(1_024).optional().describe('What it does, in a few words.'),
      run_in_background: z.boolean().optional().describe('Not possible here.'),
    }),
    async run({ command, timeout = usualMs, run_in_background }, _, signal) {
      if (run_in_background)
        throw new PawlError(
          'unsupported',
          'Commands cannot be left running in the background here; run it to its end, or with a timeout.',
        )
      await gate('Bash', { command, timeout })
      const ran = await runInside(command, { timeoutMs: timeout, signal, mostBytes: 2 * longestAnswer })
      return files.shown(ranText(ran, timeout))
    },
  })

/** What a command that has ended said, and how it ended. */
export function ranText({ stdout, stderr, code, signal, timedOut }: Ran, timeout: number): string {
  const end = timedOut
    ? `The command was ended because it took longer than ${timeout} ms.`
    : signal !== null
      ? `The command was ended by ${signal}.`
      : code === 0
        ? ''
        : `Exit code ${code}.`
  const output = [stdout.trimEnd(), stderr.trimEnd()].filter((text) => text !== '').join('\n')
  return [withoutMiddle(output), end].filter((text) => text !== '').join('\n') || 'Done; it printed nothing.'
}
