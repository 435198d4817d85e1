import { z } from 'zod'
import type { Check, Checks } from '../domain/agent/checks.ts'
import { Duration, formatDuration } from './duration.ts'

const command = z.string().min(1, { error: 'must not be empty' }).max(65_536, { error: 'must be at most 65536 signs' })
const attempts = 'must be a whole number from 0 to 20'

const Entry = z.union(
  [
    command,
    z.strictObject({
      run: command.describe('A shell command; it passes if it ends with 0.'),
      name: z.string().min(1).max(200).optional().describe('What people call it.'),
      timeout: Duration.optional().describe('How long it may take; 10m if left out.'),
    }),
  ],
  { error: 'must be a command, or { run: command, name: text, timeout: duration }' },
)
const commands = z.array(Entry).max(50, { error: 'must be at most 50 commands' })

/** What proves that work is done, as it is written in settings: commands, or commands with how often the agent may try to mend what failed. */
export const ChecksEntry = z
  .union(
    [
      commands,
      z.strictObject({
        commands,
        attempts: z.int({ error: attempts }).min(0, { error: attempts }).max(20, { error: attempts }).optional(),
        home: z.enum(['empty', 'session']).optional().describe('The home directory of the commands; an empty one if left out.'),
      }),
    ],
    { error: 'must be a list of commands, or { commands: [...], attempts: number }' },
  )
  .transform((written): ChecksSetting => {
    const { commands: all, attempts: times = 0, home } = Array.isArray(written) ? { commands: written } : written
    return { commands: all.map(checkOf), attempts: times, ...(home === undefined ? {} : { home }) }
  })

/** Without a command: none, although somebody else named some. */
export type ChecksSetting = Checks

/** Undefined if nothing is checked. */
export const checksOf = (setting: ChecksSetting | null | undefined): Checks | undefined =>
  setting && setting.commands.length > 0 ? setting : undefined

function checkOf(written: z.output<typeof Entry>): Check {
  if (typeof written === 'string') return { run: written }
  const { run, name, timeout } = written
  return { run, ...(name === undefined ? {} : { name }), ...(timeout ? { timeoutMs: timeout } : {}) }
}

/** What `config show` prints of it. */
export const shownChecks = (checks: Checks | undefined) =>
  checks && {
    ...checks,
    commands: checks.commands.map(({ timeoutMs, ...check }) => ({
      ...check,
      ...(timeoutMs === undefined ? {} : { timeout: formatDuration(timeoutMs) }),
    })),
  }
