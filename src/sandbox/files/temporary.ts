import { isAlive, processIdentity } from '../process/identity.ts'
import { type DirectoryHandle, inFolder } from './directory-handle.ts'
import { namesIn } from './names-in.ts'
import { ownPrefix } from './path-inside.ts'
import { removeEntry } from './remove-tree.ts'
import { walkTree } from './walk-tree.ts'

let made = 0

/**
 * Ends the name of what this process makes beside others for a moment. It says whose it is, so that whoever comes after a kill can tell what nobody needs any more from what
 * somebody is at.
 */
export function temporarySuffix(): string {
  const { pid, startTime } = processIdentity()
  return `.${pid}-${startTime}-${++made}.tmp`
}

/** What `mkdtemp` adds to a name comes after it. */
const form = /\.(\d+)-(\d+)-\d+\.tmp(?:-\w{6})?$/

interface Maker {
  readonly pid: number
  readonly startTime: number
}

function makerOf(name: string): Maker | undefined {
  const [, pid, startTime] = form.exec(name) ?? []
  return pid === undefined ? undefined : { pid: Number(pid), startTime: Number(startTime) }
}

/** Is it the name of something that lies there for a moment only, whoever made it? */
export const isTemporary = (name: string): boolean => form.test(name)

/** Is it the name of something that this very process made for a moment? */
export function isMadeBy(name: string, { pid, startTime }: Maker): boolean {
  const maker = makerOf(name)
  return maker?.pid === pid && maker.startTime === startTime
}

/** Is it the name of something that a process made for a moment which is gone? */
export function isLeft(name: string): boolean {
  const maker = makerOf(name)
  return maker !== undefined && isAlive({ bootId: processIdentity().bootId, ...maker }) !== true
}

/** Removes what processes that are gone left directly in a folder, if it is there. `isOurs` says what it may be, where others put things too. */
export async function removeLeft(folder: string, isOurs: (name: string) => boolean = () => true): Promise<void> {
  const left = namesIn(folder).filter((name) => isLeft(name) && isOurs(name))
  if (left.length === 0) return
  await inFolder(folder, async (opened) => {
    for (const name of left) await removeEntry(opened, name)
  })
}

/** Removes what processes that are gone were putting into an open folder that an agent writes, wherever it was to lie. */
export async function removeLeftBelow(root: DirectoryHandle): Promise<void> {
  await walkTree(root, async ({ folder, name }) => {
    if (!name.startsWith(ownPrefix) || !isLeft(name)) return 'in'
    await removeEntry(folder, name)
    return 'past'
  })
}
