import { access, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Adapter, AgentHealth } from '../../agents/port.ts'
import type { Log } from '../../base/log.ts'
import { newerThanTried, numbersOf } from '../../domain/agent/tried-versions.ts'
import { messageOf } from '../../domain/error.ts'

/**
 * A program that is newer than what it was tried with is used all the same; the first run of each such version in a home says so. What is told is
 * told before it is marked as told: a crash between the two tells it twice, never not at all.
 */
export async function tellOfNewer(
  known: Pick<Adapter, 'title' | 'tried'>,
  { version }: AgentHealth,
  { home, log, note }: { home: string; log: Log; note: (code: string, detail: string) => Promise<void> | undefined },
): Promise<void> {
  const sentence = newerThanTried(known.title, known.tried, version)
  if (sentence === undefined) return
  const folder = join(home, 'told')
  const mark = join(folder, `${known.title.replaceAll(/\W+/g, '-').toLowerCase()}-${numbersOf(version)?.join('.')}`)
  try {
    await access(mark)
    return
  } catch {
    // Not told yet, or nobody can know: then it is told.
  }
  log.warn(sentence, { program: known.title, version, reason: 'newer_than_tried' })
  await note('newer_than_tried', sentence)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(mark, '')
  } catch (error) {
    log.debug('what was told could not be marked as told', { mark, error: messageOf(error) })
  }
}
