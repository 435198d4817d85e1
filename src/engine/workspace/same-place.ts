import { realpath } from 'node:fs/promises'

/**
 * Where a folder leads, if that is not where it was. Folders of tasks are stored with all links followed, and whoever asked was let in for that place: an agent that
 * works further up may have put a link there since.
 */
export async function leadsElsewhere(stored: string): Promise<string | undefined> {
  const real = await realpath(stored).catch(() => undefined)
  return real === undefined || real === stored ? undefined : real
}
