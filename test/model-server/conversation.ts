/** What a model is asked, free of any wire format: the history, the tools it may call, the shape of the answer wanted. */
export interface Conversation {
  readonly model: string
  readonly stream: boolean
  /** A whole answer is wanted as the only item of a list: how Gemini streams to those who do not ask for events. */
  readonly isList?: boolean
  readonly system: string
  readonly turns: readonly Turn[]
  readonly tools: readonly OfferedTool[]
  /** The images of the whole request, in base 64. */
  readonly images: readonly string[]
  /** The seals of earlier thoughts that came back. */
  readonly seals: readonly string[]
}

export type Turn =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string }
  | { readonly role: 'tool'; readonly text: string }

/** A tool as the program offers it. `namespace` is set where a format groups tools under the name of their server. */
export interface OfferedTool {
  readonly name: string
  readonly namespace?: string
  /** How the format wants it called: with JSON arguments, with one free text, or as the built-in shell. */
  readonly kind: 'function' | 'freeform' | 'local_shell'
}

/** Drops what a program adds by itself and joins what belongs to one assistant turn, so that turns can be counted. */
export function normalTurns(turns: readonly Turn[]): Turn[] {
  const normal: Turn[] = []
  for (const turn of turns) {
    if (turn.role === 'user' && !isPrompt(turn.text)) continue
    const last = normal.at(-1)
    if (turn.role === 'assistant' && last?.role === 'assistant') {
      normal[normal.length - 1] = { role: 'assistant', text: [last.text, turn.text].filter(Boolean).join('\n') }
    } else {
      normal.push(turn)
    }
  }
  return normal
}

export const userPrompts = (conversation: Conversation) =>
  conversation.turns.filter((turn) => turn.role === 'user').map((turn) => turn.text)

export const toolResults = (conversation: Conversation) =>
  conversation.turns.filter((turn) => turn.role === 'tool').map((turn) => turn.text)

/** The scenario that a prompt asks for last, and the conversation from there on. */
export function askedFor(conversation: Conversation): { name: string; since: Conversation } | undefined {
  const { turns } = conversation
  const asks = /^play ([\w-]+)/
  const index = turns.findLastIndex(({ role, text }) => role === 'user' && asks.test(text))
  const name = asks.exec(turns[index]?.text ?? '')?.[1]
  return name === undefined ? undefined : { name, since: { ...conversation, turns: turns.slice(index) } }
}

/** How far the answer to the last prompt has come: the number of assistant turns since it. */
export function position(conversation: Conversation): number {
  const lastPrompt = conversation.turns.findLastIndex((turn) => turn.role === 'user')
  return conversation.turns.slice(lastPrompt + 1).filter((turn) => turn.role === 'assistant').length
}

/**
 * Programs speak in the user's name too: reminders, the environment, instructions of the repository. Such a text is
 * wrapped in one tag, or begins with a fixed phrase.
 */
function isPrompt(text: string): boolean {
  const trimmed = text.trim()
  if (trimmed === '') return false
  if (/^<([a-z][\w-]*)(?: [^>]*)?>[\s\S]*<\/\1>$/i.test(trimmed)) return false
  return !/^(# AGENTS\.md instructions|# Environment\n|\[Request interrupted|This is the Gemini CLI\.)/.test(trimmed)
}
