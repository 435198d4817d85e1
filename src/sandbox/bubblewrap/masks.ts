import { lstatSync, statSync } from 'node:fs'
import { type HostPath, isInside, parentOf, type SandboxPath } from '../../domain/base/path.ts'
import { PawlError } from '../../domain/error.ts'
import type { Mask } from '../port.ts'
import type { Identity } from './identity.ts'
import { closedBelow, enclosing, isBind, linkOnTheWay, type Mount, outsideOf } from './mounts.ts'

export interface Masking {
  readonly masks: readonly Mask[]
  /** Directories that are laid over themselves for the sake of a mask. */
  readonly pinned: readonly SandboxPath[]
  readonly user: Identity
}

/**
 * The mounts with the masks laid over them, in the order given. What lies below a mask that only forbids writing is laid again, as it was:
 * otherwise what is hidden there would be seen once more.
 */
export function layMasks(mounts: readonly Mount[], { masks, pinned, user }: Masking): Mount[] {
  const laid = [...mounts]
  for (const mask of masks) {
    const below = enclosing(mask.path, laid)
    // Nothing is there already.
    if (below && !isBind(below) && below.kind !== 'scratch') continue
    if (!below || !isBind(below)) throw refused(mask, 'nothing of the machine is seen there')
    // Whoever may not get there needs no mask, and none could be laid on that user's behalf.
    if (closedBelow(mask.path, below, user) !== undefined) continue
    const outside = outsideOf(mask.path, below)
    refuseUnreal(mask, outside, below.source)
    const isDirectory = lstatSync(outside).isDirectory()
    if (mask.kind === 'nothing') {
      laid.push({ kind: isDirectory ? 'empty' : 'emptyFile', path: mask.path })
      continue
    }
    if (mask.kind === 'instead') {
      const instead = statSync(mask.source, { throwIfNoEntry: false })
      if (instead?.isDirectory() !== isDirectory)
        throw refused(mask, `"${mask.source}" is not the same kind of thing, or does not exist`)
      laid.push({ kind: mask.writable ? 'writable' : 'readable', source: mask.source, path: mask.path })
      continue
    }
    const inIt = laid.filter(
      ({ path, kind }) => path !== mask.path && isInside(mask.path, path) && !(kind === 'writable' && pinned.includes(path)),
    )
    laid.push({ kind: 'readable', source: outside, path: mask.path }, ...inIt)
  }
  return laid
}

/**
 * The directories between a workspace or other writable place and what is masked in it: moved away, they would take the mask with them. What lies in something that is shown
 * instead is none of the workspace.
 */
export function pinnedBy(masks: readonly Mask[], writable: readonly SandboxPath[]): SandboxPath[] {
  const instead = masks.filter(({ kind }) => kind === 'instead')
  const pinned = masks.flatMap(({ path }) => {
    const place = writable.filter((root) => isInside(root, path)).toSorted((a, b) => b.length - a.length)[0]
    const between: SandboxPath[] = []
    if (place === undefined) return between
    for (let dir = parentOf(path); dir.length > place.length; dir = parentOf(dir))
      if (!instead.some((other) => isInside(other.path, dir))) between.push(dir)
    return between
  })
  return [...new Set(pinned)]
}

function refuseUnreal(mask: Mask, outside: HostPath, from: HostPath): void {
  const link = linkOnTheWay(outside, from)
  if (link !== undefined) throw refused(mask, `"${link}" is a link; mask what it leads to, or move the link away`)
  if (!lstatSync(outside, { throwIfNoEntry: false }))
    throw refused(mask, 'there is no such path, and a place for it would stay in the workspace')
}

const refused = (mask: Mask, why: string) => new PawlError('invalid', `The mask over "${mask.path}" cannot be laid: ${why}.`)
