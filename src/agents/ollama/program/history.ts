import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parsed } from '../../shared/program-lines.ts'
import { Failure } from './failure.ts'

export interface Call {
  readonly id: string
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

export type Message =
  | { readonly role: 'user'; readonly content: string }
  | {
      readonly role: 'assistant'
      readonly content: string
      readonly thinking?: string | undefined
      readonly calls?: readonly Call[] | undefined
    }
  | {
      readonly role: 'tool'
      readonly content: string
      readonly callId: string
      readonly name: string
      readonly images?: readonly string[] | undefined
    }

export interface History {
  readonly messages: readonly Message[]
  add(message: Message): void
}

export const interrupted =
  'Interrupted: the program was ended while this call was under way. Nobody knows how far it came; look before you do it again.'

/** A conversation as a file that only grows, one message a line. What is in it was written before it was acted upon. */
export function openHistory(file: string, { resume }: { resume: boolean }): History {
  const text = readIfThere(file)
  if (resume && text === undefined) throw new Failure('session_missing', 'The conversation is not in this home any more.')
  mkdirSync(dirname(file), { recursive: true })
  const messages = (text ?? '').split('\n').flatMap(messageIn)
  // Each line brings the break before it, so that one which a power cut left unfinished spoils no other.
  const add = (message: Message) => {
    appendFileSync(file, `\n${JSON.stringify({ type: 'message', at: new Date().toISOString(), message })}`)
    messages.push(message)
  }
  for (const call of openCalls(messages)) add({ role: 'tool', content: interrupted, callId: call.id, name: call.name })
  return { messages, add }
}

/** The calls of the last answer that nothing came back from. */
export function openCalls(messages: readonly Message[]): Call[] {
  const at = messages.findLastIndex((message) => message.role !== 'tool')
  const last = messages[at]
  if (last?.role !== 'assistant') return []
  const answered = new Set(messages.slice(at + 1).map((message) => (message.role === 'tool' ? message.callId : '')))
  return (last.calls ?? []).filter((call) => !answered.has(call.id))
}

function messageIn(line: string): Message[] {
  const row = line === '' ? undefined : parsed(line)
  const message = row?.type === 'message' ? (row.message as Message | undefined) : undefined
  return message !== undefined && typeof message.content === 'string' ? [message] : []
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  }
}
