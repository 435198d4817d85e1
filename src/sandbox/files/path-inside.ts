import { isPlainBelow } from '../../domain/base/path.ts'

/** Files that we make beside others for a moment begin with it; they belong to no conversation. */
export const ownPrefix = '.pawl-'

/** A path inside a home. An adapter that names any other is wrong. */
export function partsOf(path: string): string[] {
  if (!isPlainBelow(path)) throw new Error(`${JSON.stringify(path)} is not a path inside a home`)
  return path.split('/')
}
