import { opendirSync, readdirSync } from 'node:fs'
import { type DirectoryHandle, isAbsence } from './directory-handle.ts'

/** What a folder of ours holds; nothing if it is not there. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isAbsence(error)) return []
    throw error
  }
}

/** The names in an open folder in their order, and whether there are more than `most`: an agent may have made millions. */
export function someNames(folder: DirectoryHandle, most: number): { readonly names: readonly string[]; readonly isCut: boolean } {
  const entries = opendirSync(folder.at('.'), { bufferSize: 256 })
  const names: string[] = []
  try {
    for (let entry = entries.readSync(); entry; entry = entries.readSync()) {
      if (names.length === most) return { names: names.sort(), isCut: true }
      names.push(entry.name)
    }
    return { names: names.sort(), isCut: false }
  } finally {
    entries.closeSync()
  }
}
