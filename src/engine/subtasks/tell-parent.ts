import type { Moving } from '../move.ts'

/** A subtask has ended: if it was the last one, its parent goes on with what they brought. */
export async function tellParent(_moving: Moving, _parent: string): Promise<void> {}
