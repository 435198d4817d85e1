/** One JSON value for each line in the form that several programs share: messages by who says them, and a result at the end. */
export const streamJson = {
  text: 'message.content.*.text',
  textWhere: { type: 'assistant' },
  result: 'result',
  session: 'session_id',
  error: 'error',
  inputTokens: 'usage.input_tokens',
  outputTokens: 'usage.output_tokens',
} as const
