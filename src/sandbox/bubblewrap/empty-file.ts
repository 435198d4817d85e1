import { chmodSync, lstatSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HostPath, hostPath } from '../../domain/base/path.ts'

/** An empty file that anybody may read, to be shown in place of others. All processes of a user share one, so none is left behind by each. */
export function emptyFile(): HostPath {
  const shared = join(tmpdir(), `pawl-empty-${process.getuid?.() ?? 0}`)
  if (!lstatSync(shared, { throwIfNoEntry: false })) mkdirSync(shared, { recursive: true, mode: 0o755 })
  // Others may have been there first, in a folder where everybody can write.
  const folder = isOurs(shared) ? shared : mkdtempSync(`${shared}-`)
  chmodSync(folder, 0o755)
  const file = join(folder, 'empty')
  if (!lstatSync(file, { throwIfNoEntry: false })) writeFileSync(file, '', { mode: 0o444 })
  // The folder for temporary files may be a link.
  return hostPath(realpathSync(file))
}

function isOurs(folder: string): boolean {
  const found = lstatSync(folder)
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0
}
