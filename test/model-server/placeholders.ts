import { type Conversation, toolResults, userPrompts } from './conversation.ts'
import { fingerprint } from './record.ts'

/** Puts what the model saw into every string of a value, so that an answer can prove it. */
export function fill<T>(value: T, conversation: Conversation): T {
  return replaceText(value, (text) =>
    text.replace(pattern, (whole, name: string) => meanings[name]?.(conversation) ?? whole),
  ) as T
}

export const unknownPlaceholders = (text: string): string[] =>
  [...text.matchAll(pattern)].filter((match) => !(match[1]! in meanings)).map((match) => match[0])

const pattern = /\{\{(\w+)\}\}/g

const meanings: Record<string, (conversation: Conversation) => string> = {
  lastUser: (conversation) => userPrompts(conversation).at(-1) ?? '',
  /** Its first words, for prompts that nobody wants to hear again. */
  lastUserBegins: (conversation) => (userPrompts(conversation).at(-1) ?? '').slice(0, 40),
  allUsers: (conversation) => userPrompts(conversation).join(' | '),
  userCount: (conversation) => String(userPrompts(conversation).length),
  toolResult: (conversation) => toolResults(conversation).at(-1) ?? '',
  toolResults: (conversation) => toolResults(conversation).join(' | '),
  toolResultCount: (conversation) => String(toolResults(conversation).length),
  /** The first task of Pawl's that the last output of a tool names. */
  taskId: (conversation) => /\bt_\w+/.exec(toolResults(conversation).at(-1) ?? '')?.[0] ?? '',
  /** What the last prompt has between backticks. */
  quoted: (conversation) => /`([^`]+)`/.exec(userPrompts(conversation).at(-1) ?? '')?.[1] ?? '',
  model: (conversation) => conversation.model,
  imageCount: (conversation) => String(conversation.images.length),
  /** Of the base 64 text of each image. */
  images: (conversation) => conversation.images.map(fingerprint).join(' '),
  seals: (conversation) => conversation.seals.map((seal) => Buffer.from(seal, 'base64').toString()).join(' | '),
}

function replaceText(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value)
  if (Array.isArray(value)) return value.map((item) => replaceText(item, replace))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replaceText(item, replace)]))
}
