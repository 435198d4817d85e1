import { statfs } from 'node:fs/promises'
import { unavailable } from '../../domain/error.ts'

/** New work is refused while there is still room to finish and to read. */
export async function assertRoom(home: string): Promise<void> {
  const disk = await statfs(home)
  const free = disk.bavail * disk.bsize
  const reserve = Math.min(512 * 1024 * 1024, (disk.blocks * disk.bsize) / 20)
  if (free < reserve)
    throw unavailable(
      `Only ${Math.round(free / 1024 / 1024)} MiB are free where ${home} lies; free some space, then try again. Nothing was lost.`,
    )
}
