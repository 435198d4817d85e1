import { type Message, type Part, Role } from '@a2a-js/sdk'

export const textPart = (value: string, mediaType = 'text/plain'): Part => part({ $case: 'text', value }, mediaType)
export const dataPart = (value: unknown): Part => part({ $case: 'data', value }, 'application/json')
export const rawPart = (value: Buffer, filename: string, mediaType: string): Part => ({
  ...part({ $case: 'raw', value }, mediaType),
  filename,
})
export const urlPart = (value: string, filename: string, mediaType: string): Part => ({
  ...part({ $case: 'url', value }, mediaType),
  filename,
})

const part = (content: NonNullable<Part['content']>, mediaType: string): Part => ({
  content,
  mediaType,
  filename: '',
  metadata: undefined,
})

export interface Said {
  readonly id: string
  readonly task?: { readonly id: string; readonly session: string } | undefined
  readonly parts: Part[]
  readonly metadata?: Record<string, unknown> | undefined
}

export const byAgent = (said: Said): Message => message(Role.ROLE_AGENT, said)
export const byUser = (said: Said): Message => message(Role.ROLE_USER, said)

const message = (role: Role, { id, task, parts, metadata }: Said): Message => ({
  messageId: id,
  contextId: task?.session ?? '',
  taskId: task?.id ?? '',
  role,
  parts,
  metadata,
  extensions: [],
  referenceTaskIds: [],
})
