import spine from './0001-spine.ts'
import sessions from './0002-sessions.ts'

/** Forward only, in order; a number is never reused and an applied text never changes. */
export const migrations: readonly { readonly id: number; readonly name: string; readonly sql: string }[] = [
  { id: 1, name: 'spine', sql: spine },
  { id: 2, name: 'sessions', sql: sessions },
]
