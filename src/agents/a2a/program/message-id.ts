import { createHash } from 'node:crypto'

/** The same for the same: a message that is sent again after a crash is known as the one that it is. In the form of a UUID, which every server takes. */
export function messageIdOf(...parts: readonly string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export const digestOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
