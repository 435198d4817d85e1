import { statSync } from 'node:fs'
import { PawlError } from '../../domain/error.ts'
import { markOf, type Walls } from '../port.ts'

/**
 * Is what is seen inside what was looked at before? A path can be exchanged between the look and the mount; what is mounted cannot be any more, so this is asked when the
 * walls stand and nothing of the agent has started. `first` is a process that sees what the agent sees.
 */
export function assertSamePlaces(
  first: number,
  { workspace, mounts = [], masks = [] }: Pick<Walls, 'workspace' | 'mounts' | 'masks'>,
): void {
  const shown = masks.filter((mask) => mask.kind === 'instead')
  for (const { path, mark } of [workspace, ...mounts, ...shown]) {
    if (mark === undefined) continue
    const found = markAt(`/proc/${first}/root${path}`)
    if (found !== undefined && found !== mark)
      throw new PawlError(
        'conflict',
        `"${path}" was exchanged for something else just before it was mounted; put the folder back.`,
      )
  }
}

/** Undefined where the kernel does not let us look; empty where there is nothing. */
function markAt(path: string): string | undefined {
  try {
    return markOf(statSync(path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES' || code === 'EPERM') return undefined
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return ''
    throw error
  }
}
