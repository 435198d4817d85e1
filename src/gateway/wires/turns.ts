import type { Message, Part, TextPart } from './model-request.ts'
import { sealOfNextCall } from './seal.ts'

/** Gathers parts into messages: neighbours of one role are one message, as the strictest formats want it. */
export function createTurns() {
  const messages: { role: Message['role']; parts: Part[] }[] = []
  return {
    add(role: Message['role'], parts: readonly Part[]) {
      if (parts.length === 0) return
      const last = messages.at(-1)
      if (last?.role === role) last.parts.push(...parts)
      else messages.push({ role, parts: [...parts] })
    },
    get isEmpty() {
      return messages.length === 0
    },
    messages: (): readonly Message[] => messages.map(({ role, parts }) => ({ role, parts: withSeals(parts) })),
  }
}

/** What a program says in the middle of a conversation is no word of the user's; the formats that have no role for it get it in the user's name, wrapped. */
export const asReminder = (text: string): TextPart => ({ kind: 'text', text: `<system-reminder>\n${text}\n</system-reminder>` })

/** A seal that stands before its call is put back into it. */
function withSeals(parts: readonly Part[]): readonly Part[] {
  let ahead: string | undefined
  const kept: Part[] = []
  for (const part of parts) {
    const seal = part.kind === 'thinking' && part.text === '' ? sealOfNextCall(part.seal) : undefined
    if (seal !== undefined) ahead = seal
    else if (part.kind === 'tool_call' && ahead !== undefined) {
      kept.push({ ...part, seal: ahead })
      ahead = undefined
    } else kept.push(part)
  }
  return kept
}
