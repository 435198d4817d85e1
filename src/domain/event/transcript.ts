/** One thing that was said or done in a conversation, as the journal tells it: what a lost conversation is rebuilt from. */
export type Utterance =
  | { readonly kind: 'user'; readonly text: string; readonly at: string }
  | { readonly kind: 'agent'; readonly text: string; readonly at: string }
  | {
      readonly kind: 'tool'
      readonly callId: string
      readonly tool: string
      readonly input: unknown
      /** Undefined: nobody knows how it ended. */
      readonly output?: string | undefined
      readonly isError: boolean
      readonly at: string
    }
