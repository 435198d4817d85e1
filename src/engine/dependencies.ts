import type { Moved, Moving } from './move.ts'

/** A task has ended: those that waited for it are queued once they wait for nothing else, or fail with it. */
export async function releaseDependents(_moving: Moving, _ended: Moved): Promise<void> {}
