/** What stands for an answer that is empty, word for word: programs that called the systems before Pawl look for it. */
export const emptyReply = (runs: number) => (runs > 1 ? '(no response generated after retries)' : '(no response generated)')

/** What whoever asked by message is answered: the text of the result, or the words that stand for none. */
export function replyOf({
  result,
  reason,
}: {
  readonly result: { readonly outcome: string; readonly text: string }
  readonly reason: { readonly kind: string; readonly detail?: string | undefined } | null
}): string {
  if (result.text !== '' || result.outcome !== 'empty') return result.text
  return (reason?.kind === 'empty' ? reason.detail : undefined) ?? emptyReply(1)
}
