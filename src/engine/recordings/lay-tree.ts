import { chmodSync, constants, copyFileSync, lchownSync, mkdirSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { WorkspaceEntry } from '../../gateway/recordings/format.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import { takingTurns } from '../base/turns.ts'

/** Puts a tree that was kept into an empty folder of ours, which no agent has yet. What a folder holds comes before its own time and mode, which that would change. */
export async function layTree(
  entries: readonly WorkspaceEntry[],
  { files, to, user }: { files: string; to: string; user: AgentUser | undefined },
): Promise<void> {
  const turn = takingTurns()
  for (const { kind, path, sha256, target } of entries) {
    await turn()
    const at = join(to, path)
    if (kind === 'directory') mkdirSync(at, { mode: 0o700 })
    else if (kind === 'link') symlinkSync(target ?? '', at)
    else copyFileSync(join(files, sha256 ?? ''), at, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
    if (user) lchownSync(at, user.uid, user.gid)
  }
  for (const { kind, path, mode, mtimeNs } of entries.toReversed()) {
    if (kind === 'link') continue
    await turn()
    const at = join(to, path)
    const seconds = Number(BigInt(mtimeNs) / 1_000n) / 1_000_000
    chmodSync(at, mode)
    utimesSync(at, seconds, seconds)
  }
}
