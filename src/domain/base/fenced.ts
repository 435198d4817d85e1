/** Text from elsewhere, set apart so that it cannot pass for an instruction of ours. The fence is longer than any run of backticks inside. */
export function fenced(text: string): string {
  let longest = 2
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const fence = '`'.repeat(longest + 1)
  return `${fence}text\n${text}\n${fence}`
}

/** A name stands in a line of ours, and must stay in it. */
export const named = (text: string): string =>
  text
    .replaceAll(/[\s"[\]]+/g, ' ')
    .trim()
    .slice(0, 200)
