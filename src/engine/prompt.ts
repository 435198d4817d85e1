import type { Outcome } from '../domain/outcome.ts'
import type { Answered, Continuation } from '../store/tables.ts'
import { schemaInstruction } from './structured-output.ts'

/** What the agent is told in this run. A program that remembers the conversation hears only what is new; any other hears the whole of it again. */
export function composePrompt(input: {
  prompt: string
  continuation: Continuation | null
  resumed: boolean
  /** What was said before, for a program that has lost it. */
  preface?: string | undefined
  /** The run before this one on the same task. */
  earlier?: { outcome: string | null; category: string | null; message: string | null } | undefined
  /** An earlier run of the task has used tools, so some of the work may be done. */
  toolsRan: boolean
  outputSchema?: Readonly<Record<string, unknown>> | undefined
}): string {
  const message = messageOf(input)
  const whole = input.outputSchema ? `${message}\n\n${schemaInstruction(input.outputSchema)}` : message
  return input.preface === undefined ? whole : `${input.preface}\n${whole}`
}

function messageOf(input: Parameters<typeof composePrompt>[0]): string {
  const { prompt, continuation, resumed, earlier, toolsRan } = input
  if (continuation?.kind === 'answer') {
    const { answers } = continuation
    if (!resumed) return [prompt, '', ...answers.map(told)].join('\n')
    const fresh = answers.filter((answer) => !answer.heard)
    return fresh.length === 1 ? fresh[0]!.answer : fresh.map(told).join('\n')
  }
  const outcome = earlier?.outcome ?? ''
  if (resumed && earlier?.category === 'invalid_output') return `${earlier.message ?? ''} Give the answer again, in that form.`
  if (!cutShort.has(outcome)) return prompt
  const ending = outcome.replaceAll('_', ' ')
  // It may have been cut short before it heard what to do.
  if (resumed)
    return `Your last run on this task was cut short (${ending}). Look at what is already done, do not repeat it, and go on. The task was:\n\n${prompt}`
  if (!toolsRan) return prompt
  return `An earlier run on this task was cut short (${ending}) after it had begun to work. Look at what is already done, and do not repeat it. The task is:\n\n${prompt}`
}

const cutShort: ReadonlySet<string> = new Set<Outcome>([
  'failed',
  'timed_out',
  'cancelled',
  'denied',
  'tripped',
  'over_budget',
  'interrupted',
  'lost',
])

const told = ({ question, answer }: Answered) =>
  ['[You asked earlier]', fenced(question), '[The answer]', fenced(answer)].join('\n')

/** Text from elsewhere, set apart so that it cannot pass for an instruction of ours. The fence is longer than any run of backticks inside. */
export function fenced(text: string): string {
  let longest = 2
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const fence = '`'.repeat(longest + 1)
  return `${fence}text\n${text}\n${fence}`
}
