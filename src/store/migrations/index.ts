import spine from './0001-spine.ts'
import sessions from './0002-sessions.ts'
import profiles from './0003-profiles.ts'
import entrance from './0004-entrance.ts'
import secrets from './0005-secrets.ts'

/** Forward only, in order; a number is never reused and an applied text never changes. */
export const migrations: readonly { readonly id: number; readonly name: string; readonly sql: string }[] = [
  { id: 1, name: 'spine', sql: spine },
  { id: 2, name: 'sessions', sql: sessions },
  { id: 3, name: 'profiles', sql: profiles },
  { id: 4, name: 'entrance', sql: entrance },
  { id: 5, name: 'secrets', sql: secrets },
]
