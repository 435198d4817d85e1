import { openDirectory } from '../../../sandbox/files/directory-handle.ts'
import { readRegular } from '../../../sandbox/files/read-file.ts'
import { NoPicture } from './snapshot.ts'

/** What git wrote of a difference: regular files of the store, and no more than was asked for. */
export async function readKept(folder: string): Promise<{ list: Buffer; patch: Buffer }> {
  const store = await openDirectory(folder)
  try {
    const list = store && readRegular(store, 'list', mostListBytes)
    const patch = store && readRegular(store, 'patch', mostPatchBytes)
    if (!list || !patch) throw new NoPicture('too many files were changed')
    return { list, patch }
  } finally {
    await store?.close()
  }
}

const mostListBytes = 64_000_000
const mostPatchBytes = 16_000_001
