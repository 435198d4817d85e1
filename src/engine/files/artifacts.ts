import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { posix } from 'node:path'
import { inPlace } from '../../domain/base/path.ts'
import { messageOf } from '../../domain/error.ts'
import { nameFault } from '../../domain/files/file-name.ts'
import { fileTypeOf } from '../../domain/files/file-type.ts'
import { type FileLimits, megabyte } from '../../domain/files/limits.ts'
import { TooLarge } from '../../domain/files/too-large.ts'
import { newId } from '../../domain/id.ts'
import { type DirectoryHandle, isAbsence, noFollow, openDirectory, openIn } from '../../sandbox/files/directory-handle.ts'
import { someNames } from '../../sandbox/files/names-in.ts'
import { removeEntry } from '../../sandbox/files/remove-tree.ts'
import type { Walls } from '../../sandbox/port.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import { type ArtifactRow, artifactsOfTask, holdRun, putArtifact } from '../../store/files.ts'
import type { TakenRun } from '../../store/runs.ts'
import { whenDatabaseIsBack } from '../base/await-database.ts'
import type { RunContext } from '../base/run-context.ts'
import type { RunServices } from '../base/run-services.ts'
import type { Journal } from '../journal/journal.ts'
import type { Blobs, Received } from './blobs.ts'

const folderName = '.pawl-artifacts'
const deepest = 8
/** Nobody reads more. */
const mostNamed = 20
/** Whoever leaves more than can be looked at in a moment leaves nothing for people. */
const mostLookedAt = 10_000

/** The same for all runs of a session: a program that stays is told once where it is. */
export const artifactFolder = (sessionHome: string) => posix.join(sessionHome, folderName)

export interface ArtifactPlace {
  readonly home: string
  readonly user: AgentUser | undefined
}

/** Makes the folder in which an agent leaves files for people. What an earlier run of the same task left there stays; what another task left does not. */
export async function openArtifacts({ run }: TakenRun, { home, user }: ArtifactPlace): Promise<NonNullable<Walls['mounts']>> {
  const root = await openDirectory(home)
  if (!root) return []
  try {
    // Mostly there is none, and an error takes longer to make than the look.
    const isThere = lstatSync(root.at(folderName), { throwIfNoEntry: false }) !== undefined
    let there = isThere ? await openIn(root, folderName) : undefined
    if (there && run.fence === 1 && readdirSync(there.at('.')).length > 0) {
      await there.close()
      there = undefined
    }
    if (!there) {
      await makeAnew(root)
      there = user && (await openIn(root, folderName))
      if (user) await there?.chown(user.uid, user.gid)
    }
    await there?.close()
  } finally {
    await root.close()
  }
  const folder = artifactFolder(home)
  return [{ ...inPlace(folder), mode: 'rw' }]
}

async function makeAnew(root: DirectoryHandle): Promise<void> {
  const path = root.at(folderName)
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
    await removeEntry(root, folderName)
    await mkdir(path, { mode: 0o700 })
  }
}

interface ArtifactParts extends Pick<RunServices, 'clock' | 'redactor'> {
  readonly journal: Pick<Journal, 'flush' | 'transact'>
  /** What files hold, and how many a task may leave. */
  readonly files: { readonly blobs: Blobs; readonly limits: FileLimits }
}

interface Found {
  readonly name: string
  readonly received: Received
}

/** Keeps what a run left for people, before its end is told. What is left out is said, and the run's end stays what it is. */
export async function keepArtifacts(
  taken: TakenRun,
  parts: ArtifactParts,
  voice: RunContext,
  { home }: { home: string },
): Promise<void> {
  const { run, task } = taken
  const found: Found[] = []
  const leftOut: string[] = []
  try {
    const folder = await openDirectory(artifactFolder(home))
    if (!folder) return
    try {
      await gather(folder, parts, { found, leftOut, seen: { count: 0 } })
    } finally {
      await folder.close()
    }
    if (found.length > 0) await whenDatabaseIsBack(parts, voice, store)
  } catch (error) {
    voice.log.warn('what a run left for people was not kept', { error: messageOf(error), reason: 'artifacts_lost' })
    await voice.note('artifacts_lost', `What the agent left for people could not be kept: ${messageOf(error)}`)
  } finally {
    for (const { received } of found) await received.discard()
  }
  if (leftOut.length > 0) {
    const more = leftOut.length > mostNamed ? [`and ${leftOut.length - mostNamed} more`] : []
    await voice.note('artifacts_left_out', `Not kept for people: ${[...leftOut.slice(0, mostNamed), ...more].join('; ')}.`)
  }

  async function store(): Promise<void> {
    // What was said before comes before it.
    await parts.journal.flush()
    await parts.journal.transact('artifact.add', async (tx, record) => {
      if (!(await holdRun(tx, { task: task.id, fence: run.fence }))) return
      const before = new Map((await artifactsOfTask(tx, task.id)).map((row) => [row.name, row.sha256]))
      let room = parts.files.limits.artifacts - before.size
      for (const { name, received } of found) {
        if (before.get(name) === received.sha256) continue
        if (!before.has(name) && room-- <= 0) {
          if (!leftOut.includes(tooMany)) leftOut.push(tooMany)
          continue
        }
        await parts.files.blobs.keep(tx, received)
        const row: ArtifactRow = {
          id: newId('artifact', parts.clock.now()),
          task_id: task.id,
          run_id: run.id,
          sha256: received.sha256,
          name,
          type: fileTypeOf(name, received.head),
          size: received.size,
          created_at: new Date(parts.clock.now()),
        }
        await putArtifact(tx, row)
        const data = { artifact: row.id, name, type: row.type, size: row.size }
        record({ task: task.id, run: run.id, event: { type: 'artifact.added', data } })
      }
    })
  }
}

const tooMany = 'more files than a task may leave (files.artifacts)'

/** From handle to handle, so that no link leads anywhere; only plain files with one name are read. */
async function gather(
  folder: DirectoryHandle,
  parts: Omit<ArtifactParts, 'journal'>,
  into: { found: Found[]; leftOut: string[]; seen: { count: number } },
  above = '',
  depth = 0,
): Promise<void> {
  const { found, leftOut, seen } = into
  const { limits, blobs } = parts.files
  const { names, isCut } = someNames(folder, mostLookedAt)
  if (isCut) leftOut.push(`${above === '' ? 'some files' : above} (more than ${mostLookedAt} in one folder)`)
  for (const own of names) {
    if (leftOut.at(-1) === tooMany) return
    if (++seen.count > mostLookedAt) return void leftOut.push(tooMany)
    const name = `${above}${own}`
    const shown = parts.redactor.text(name)
    if (shown !== name) {
      leftOut.push(`${shown} (its name holds a secret)`)
      continue
    }
    const fault = nameFault(own)
    if (fault !== undefined || own !== own.normalize('NFC')) {
      leftOut.push(`${JSON.stringify(name.slice(0, 100))} (its name ${fault ?? 'is not written as names are kept'})`)
      continue
    }
    const inside = depth < deepest ? await openIn(folder, own).catch(notOursToRead) : undefined
    if (inside) {
      try {
        await gather(inside, parts, into, `${name}/`, depth + 1)
      } finally {
        await inside.close()
      }
      continue
    }
    const file = opened(folder.at(own))
    if (file === undefined) {
      leftOut.push(`${name} (not a plain file)`)
      continue
    }
    try {
      const stat = fstatSync(file)
      const total = found.reduce((sum, { received }) => sum + received.size, 0)
      const maxBytes = Math.min(limits.artifactMb * megabyte, limits.artifactsMb * megabyte - total)
      if (!stat.isFile()) leftOut.push(`${name} (not a plain file)`)
      else if (stat.nlink !== 1) leftOut.push(`${name} (it has a second name elsewhere)`)
      else if (stat.size > maxBytes) leftOut.push(`${name} (too large; files.artifactMb, files.artifactsMb)`)
      else if (found.length >= limits.artifacts) leftOut.push(tooMany)
      else found.push({ name, received: await blobs.receive(piecesOf(file, parts), { maxBytes }) })
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error
      leftOut.push(`${name} (too large; files.artifactMb, files.artifactsMb)`)
    } finally {
      closeSync(file)
    }
  }
}

/** Secrets stay out of it, as they stay out of everything that is stored. */
async function* piecesOf(file: number, { redactor }: Pick<RunServices, 'redactor'>): AsyncGenerator<Uint8Array> {
  const hidden = redactor.stream()
  const buffer = Buffer.allocUnsafe(256 * 1024)
  for (;;) {
    const read = readSync(file, buffer, 0, buffer.length, null)
    if (read === 0) break
    yield* hidden.write(Buffer.from(buffer.subarray(0, read)))
  }
  yield hidden.end()
}

function notOursToRead(error: { code?: string }): undefined {
  if (error.code !== 'EACCES') throw error
}

/** Undefined for a link, and for what is not ours to read. */
function opened(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | noFollow)
  } catch (error) {
    if (isAbsence(error) || ['EACCES', 'ENXIO', 'EISDIR'].includes((error as { code?: string }).code ?? '')) return undefined
    throw error
  }
}
