import { readdirSync } from 'node:fs'
import { isAbsence } from './directory-handle.ts'

/** What a folder holds; nothing if it is not there. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isAbsence(error)) return []
    throw error
  }
}
