import type { Outcome } from '../domain/outcome.ts'
import type { Answered, Continuation } from '../store/tables.ts'

/** What the agent is told in this run. A program that remembers the conversation hears only what is new; any other hears the whole of it again. */
export function composePrompt(input: {
  prompt: string
  continuation: Continuation | null
  resumed: boolean
  earlierOutcome: string | null
}): string {
  const { prompt, continuation, resumed, earlierOutcome } = input
  if (continuation?.kind === 'answer') {
    const { answers } = continuation
    if (!resumed) return [prompt, '', ...answers.map(told)].join('\n')
    const fresh = answers.filter((answer) => !answer.heard)
    return fresh.length === 1 ? fresh[0]!.answer : fresh.map(told).join('\n')
  }
  // It may have been cut short before it heard what to do.
  if (resumed && earlierOutcome !== null && cutShort.has(earlierOutcome))
    return `Your last run on this task was cut short (${earlierOutcome.replaceAll('_', ' ')}). Look at what is already done, do not repeat it, and go on. The task was:\n\n${prompt}`
  return prompt
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
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}text\n${text}\n${fence}`
}
