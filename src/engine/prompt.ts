import type { Continuation } from '../store/tables.ts'

/** What the agent is told in this run. A program that remembers the conversation hears only what is new; any other hears the whole of it again. */
export function composePrompt(input: {
  prompt: string
  continuation: Continuation | null
  resumed: boolean
  earlierOutcome: string | null
}): string {
  const { prompt, continuation, resumed, earlierOutcome } = input
  if (continuation?.kind === 'answer') {
    if (resumed) return continuation.answer
    return [prompt, '', '[You asked earlier]', fenced(continuation.question), '[The answer]', fenced(continuation.answer)].join(
      '\n',
    )
  }
  if (continuation?.kind === 'retry' && continuation.note !== '')
    return resumed ? continuation.note : `${prompt}\n\n${continuation.note}`
  if (resumed && earlierOutcome !== null) {
    return `Your last run on this task was cut short (${earlierOutcome.replaceAll('_', ' ')}). Look at what is already done, do not repeat it, and go on.`
  }
  return prompt
}

/** Text from elsewhere, set apart so that it cannot pass for an instruction of ours. The fence is longer than any run of backticks inside. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}text\n${text}\n${fence}`
}
