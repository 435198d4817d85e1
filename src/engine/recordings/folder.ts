import { mkdirSync, rmSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { notFound } from '../../domain/error.ts'
import { type Recording, readRecording } from '../../gateway/recordings/read.ts'
import { isAbsence } from '../../sandbox/files/directory-handle.ts'
import { namesIn } from '../../sandbox/files/names-in.ts'
import { isLeft } from '../../sandbox/files/temporary.ts'

/** The recordings of a home: a folder for each run, and beside them the files of workspaces, each once, of which those folders hold second names. */
const placeOf = (home: string) => join(home, 'recordings')

export interface RecordingFolder {
  /** The lines. */
  readonly file: string
  /** Contents by their digest. */
  readonly files: string
  /** The same of all recordings. */
  readonly shared: string
}

export function recordingFolder(home: string, run: string): RecordingFolder {
  const folder = join(placeOf(home), run)
  return { file: join(folder, 'recording.jsonl'), files: join(folder, 'files'), shared: join(placeOf(home), 'files') }
}

export function makeRecordingFolder(home: string, run: string): RecordingFolder {
  const folder = recordingFolder(home, run)
  rmSync(join(placeOf(home), run), { recursive: true, force: true })
  for (const path of [folder.files, folder.shared]) mkdirSync(path, { recursive: true, mode: 0o700 })
  return folder
}

/** Without the files that it has so far. */
export function emptyFolder({ files, shared }: RecordingFolder): void {
  rmSync(files, { recursive: true, force: true })
  mkdirSync(files, { mode: 0o700 })
  sweep(shared)
}

/** Removes what there is of it, and the files that no other recording has. */
export function removeRecordingFiles(home: string, runs: readonly string[]): void {
  const there = runs.filter((run) => statSync(join(placeOf(home), run), { throwIfNoEntry: false }) !== undefined)
  for (const run of there) rmSync(join(placeOf(home), run), { recursive: true, force: true })
  if (there.length > 0) sweep(join(placeOf(home), 'files'))
}

/**
 * A file that gets a second name in this very moment only loses its first one: what it holds stays with whoever gave it the second. One that somebody is still writing has
 * neither yet.
 */
function sweep(shared: string): void {
  for (const name of namesIn(shared)) {
    if (name.startsWith('.') && !isLeft(name)) continue
    const path = join(shared, name)
    if (statSync(path, { throwIfNoEntry: false })?.nlink === 1) rmSync(path, { force: true })
  }
}

export async function loadRecording(home: string, run: string): Promise<Recording> {
  return readRecording(await recordingText(home, run), `The recording of run ${run}`)
}

export async function recordingText(home: string, run: string): Promise<string> {
  return readFile(recordingFolder(home, run).file, 'utf8').catch((error: unknown) => {
    if (isAbsence(error))
      throw notFound(
        `The recording of run ${run} is not on this machine; recordings stay where their run was. "pawl recording ls" lists them.`,
      )
    throw error
  })
}
