import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync } from 'node:fs'
import { systemPath } from '../process/program.ts'
import type { DirectoryHandle } from './directory-handle.ts'

/**
 * Resolves when all that was written to the file systems of these open folders is on their disks. Node has no `syncfs`, and asking the disk for each of many files takes as
 * many times as long.
 */
export async function syncFileSystems(folders: readonly DirectoryHandle[]): Promise<void> {
  if (folders.length === 0) return
  const open = folders.map((folder) => openSync(folder.at('.'), constants.O_RDONLY | constants.O_DIRECTORY))
  try {
    // Elsewhere it takes no names, and does it for all.
    const args = process.platform === 'linux' ? ['-f', '--', ...open.map((_, index) => `/proc/self/fd/${index + 3}`)] : []
    const child = spawn('sync', args, { env: { PATH: systemPath }, stdio: ['ignore', 'ignore', 'pipe', ...open] })
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    const [code] = (await once(child, 'close')) as [number | null]
    if (code !== 0)
      throw new Error(`what was written could not be brought to the disk: ${said.split('\n')[0] || 'sync was ended'}`)
  } finally {
    for (const fd of open) closeSync(fd)
  }
}
