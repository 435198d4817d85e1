import { type Message, type Part, Role, type SendMessageRequest } from '@a2a-js/sdk'
import { ContentTypeNotSupportedError } from '@a2a-js/sdk/errors'
import { z } from 'zod'
import { invalid, unsupported } from '../../domain/error.ts'
import { Name } from '../../domain/id.ts'
import { NewTask } from '../../domain/view/view.ts'

/** A message as it came, with everything of it checked that does not need to be looked up. */
export interface Incoming {
  readonly messageId: string
  /** Of all text parts, with a line between them. Empty if there is none. */
  readonly text: string
  readonly files: readonly IncomingFile[]
  readonly taskId: string | undefined
  readonly contextId: string | undefined
  readonly wishes: Wishes
}

export interface IncomingFile {
  readonly name: string
  readonly bytes: Uint8Array
}

/** What may be asked for beyond the message, in its metadata or the request's. */
const Wishes = z.object({
  agent: Name.optional(),
  question: z.string().max(100).optional(),
  pawl: NewTask.omit({ prompt: true, agent: true, session: true, attachments: true }).partial().optional(),
})
export type Wishes = z.infer<typeof Wishes>

/** The keys that messages of this protocol are known by. */
export const keyPrefix = 'a2a:'

const MessageId = z.string().regex(/^[^\p{Cc}]{1,255}$/u)

export function readMessage({ message, metadata }: SendMessageRequest): Incoming {
  if (!message) throw invalid('The request has no message.')
  if (!MessageId.safeParse(message.messageId).success)
    throw invalid('message.messageId is missing, longer than 255 characters, or holds characters that do not show.')
  if (message.role === Role.ROLE_AGENT) throw invalid('message.role must be ROLE_USER: the agent here is us.')
  if (message.parts.length === 0) throw invalid('message.parts is empty.')
  for (const part of message.parts) assertTaken(part)
  const wishes = Wishes.safeParse({ ...metadata, ...message.metadata })
  if (!wishes.success) {
    const [issue] = wishes.error.issues
    throw invalid(`metadata.${issue?.path.join('.')} cannot be taken: ${issue?.message}`)
  }
  return {
    messageId: message.messageId,
    text: textIn(message),
    files: filesIn(message),
    taskId: message.taskId || undefined,
    contextId: message.contextId || undefined,
    wishes: wishes.data,
  }
}

/** Media types of files that are taken. What is really in a file is looked at when it is. */
export const inputModes = ['text/plain', 'text/*', 'image/*', 'application/json', 'application/pdf', 'application/octet-stream']
const taken = /^(text\/[\w.+-]+|image\/[\w.+-]+|application\/(json|[\w.-]+\+json|pdf|xml|yaml|zip|gzip|octet-stream))$/

function assertTaken({ content, mediaType }: Part): void {
  const type = mediaType.split(';', 1)[0]!.trim().toLowerCase()
  if (type !== '' && !taken.test(type))
    throw new ContentTypeNotSupportedError(`Files of the type "${type}" are not taken; the card lists those that are.`)
  if (content?.$case === 'url')
    throw unsupported('Files are taken as bytes (raw), not by their address: nothing is fetched on behalf of a message.')
}

const textIn = ({ parts }: Message) =>
  parts.flatMap(({ content }) => (content?.$case === 'text' && content.value.trim() !== '' ? [content.value] : [])).join('\n')

function filesIn({ parts }: Message): IncomingFile[] {
  return parts.flatMap(({ content, filename }, n): IncomingFile[] => {
    if (content?.$case === 'raw') return [{ name: filename || `file-${n + 1}`, bytes: content.value }]
    if (content?.$case === 'data')
      return [{ name: filename || `data-${n + 1}.json`, bytes: Buffer.from(`${JSON.stringify(content.value, null, 2)}\n`) }]
    return []
  })
}
