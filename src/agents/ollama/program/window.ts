import { Failure } from './failure.ts'
import type { Message } from './history.ts'

/** What of a conversation is sent, so that it fits the model. */
export interface Fitted {
  readonly messages: readonly Message[]
  /** About how many tokens it is, all in all. */
  readonly tokens: number
  /** What the whole of it would have been. */
  readonly tokensBefore: number
  readonly leftOut: number
  readonly shortened: number
  /** There is nothing more to leave out, and it is still too much. */
  readonly isTooLarge: boolean
}

export interface Room {
  readonly window: number
  /** What comes with every request: the system prompt and the tools. */
  readonly fixedTokens: number
  /** How many tokens it really was the last time, per token that we had guessed. */
  readonly factor: number
}

const imageTokens = 1_000
const stubChars = 200
/** Those that the model is at work with are the last to be touched. */
const freshMessages = 6

/** A careful guess: a token has more than three plain letters, and seldom less than one of any other kind. */
export function guessTokens(text: string): number {
  const plain = text.length - (text.match(/[^\x00-\x7f]/g)?.length ?? 0)
  return Math.ceil(plain / 3.3 + (text.length - plain))
}

export const answerRoom = (window: number) => Math.min(4_096, Math.floor(window / 4))

/**
 * Shortens what tools once said, then leaves out the oldest exchanges, and never the first request nor what was asked last. Nothing is lost: the file has it all.
 */
export function fitInto(messages: readonly Message[], room: Room): Fitted {
  const most = room.window - answerRoom(room.window) - room.fixedTokens * room.factor
  const sizeOf = (list: readonly Message[]) => list.reduce((sum, message) => sum + tokensOf(message), 0) * room.factor
  const lastUser = messages.findLastIndex((message) => message.role === 'user')
  const before = messages.map((message, at) => (at < lastUser ? withoutThinking(message) : message))
  const tokensBefore = sizeOf(before)
  let now = before
  let shortened = 0
  const shorten = (from: number, to: number, keep: number) => {
    for (let at = from; at < to && sizeOf(now) > most; at++) {
      const message = now[at]
      if (message?.role !== 'tool' || (message.content.length <= keep && !message.images)) continue
      now = now.with(at, stub(message, keep))
      shortened++
    }
  }
  shorten(0, now.length - freshMessages, stubChars)
  const whole = now.length
  now = dropOldest(now, (list) => sizeOf(list) <= most)
  const leftOut = whole - now.length
  shorten(0, now.length - 1, stubChars)
  shorten(0, now.length, 2_000)
  shorten(0, now.length, stubChars)
  const [first] = now
  if (sizeOf(now) > most && first?.role === 'user' && now.findLastIndex(({ role }) => role === 'user') > 0) {
    now = now.with(0, { ...first, content: cutText(first.content, 2_000) })
    shortened++
  }
  const fixed = room.fixedTokens * room.factor
  const isTooLarge = sizeOf(now) > most
  return {
    messages: now,
    tokens: Math.ceil(sizeOf(now) + fixed),
    tokensBefore: Math.ceil(tokensBefore + fixed),
    ...{ leftOut, shortened, isTooLarge },
  }
}

export const overflow = ({ tokens }: Fitted, window: number) =>
  new Failure(
    'context_overflow',
    `What the model is to read has about ${tokens} tokens, and with room for its answer its window of ${window} does not hold them. Ask for less at once, or give the agent a larger contextTokens if the model and the machine allow it.`,
  )

/** An answer goes with what its tools said; the first request and everything since the last one stay. */
function dropOldest(messages: readonly Message[], fits: (list: readonly Message[]) => boolean): Message[] {
  const groups: Message[][] = []
  for (const message of messages) {
    if (message.role === 'tool' && groups.length > 0) groups.at(-1)!.push(message)
    else groups.push([message])
  }
  const lastUser = groups.findLastIndex(([message]) => message?.role === 'user')
  // Of a long turn the beginning goes too, once everything before it is gone.
  const order = [...groups.keys()].filter((at) => at !== 0 && at !== lastUser && at < groups.length - 2)
  const dropped = new Set<number>()
  const left = () => groups.filter((_, at) => !dropped.has(at)).flat()
  for (const at of order) {
    if (fits(left())) break
    dropped.add(at)
  }
  return left()
}

function tokensOf(message: Message): number {
  const calls = message.role === 'assistant' && message.calls ? guessTokens(JSON.stringify(message.calls)) : 0
  const thinking = message.role === 'assistant' && message.thinking ? guessTokens(message.thinking) : 0
  const images = message.role === 'tool' ? (message.images?.length ?? 0) * imageTokens : 0
  return 4 + guessTokens(message.content) + calls + thinking + images
}

function withoutThinking(message: Message): Message {
  if (message.role !== 'assistant' || message.thinking === undefined) return message
  const { thinking: _, ...rest } = message
  return rest
}

function stub(message: Extract<Message, { role: 'tool' }>, keep: number): Message {
  const { images, ...rest } = message
  return { ...rest, content: cutText(message.content, keep) + (images ? '\n[the image was left out]' : '') }
}

/** The beginning and the end say most. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const half = Math.floor(maxChars / 2)
  const left = text.length - 2 * half
  return `${text.slice(0, half).toWellFormed()}\n[… ${left} characters left out …]\n${text.slice(-half).toWellFormed()}`
}
