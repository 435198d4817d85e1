import { closeSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { visible } from '../../domain/base/visible.ts'
import type { InstructionFiles, RepositoryFeature, RepositoryText } from '../../domain/workspace/repository-files.ts'
import { type DirectoryHandle, inFolder, inFolderOf, openIn } from '../../sandbox/files/directory-handle.ts'
import { someNames } from '../../sandbox/files/names-in.ts'
import { openRegular, readRegular, readStart } from '../../sandbox/files/read-file.ts'

export interface RepositoryFiles {
  readonly texts: readonly RepositoryText[]
  /** What was used of the repository and what was not, in one line. Undefined where there is neither. */
  readonly note: string | undefined
}

export interface RepositoryFilesOptions {
  readonly files: InstructionFiles
  readonly features?: readonly RepositoryFeature[] | undefined
  readonly profile: { readonly name: string; readonly instructions: boolean }
  /** Does the profile trust the repository as it is now? */
  readonly isTrusted: boolean
}

/** Each request of the run carries it, and a person pays for that. */
const mostBytes = 32 * 1024
const mostBytesInAll = 64 * 1024
const mostNames = 1_000
const mostSettingsBytes = 256 * 1024

/** Reads the instruction files of a workspace, and lists what else its agent program would take from it. The tree is somebody else's: no link is followed. */
export async function readRepositoryFiles(
  root: string,
  { files, features = [], profile, isTrusted }: RepositoryFilesOptions,
): Promise<RepositoryFiles> {
  const texts: RepositoryText[] = []
  const used: string[] = []
  const unused: string[] = []
  let left = mostBytesInAll
  for (const name of files.own ?? []) {
    if ((await startOf(root, name, 0)) === undefined) continue
    if (profile.instructions) used.push(name)
    else unused.push(`${name} (${whyNone()})`)
  }
  for (const names of files.given)
    for (const path of names) {
      const found = await startOf(root, path, Math.min(mostBytes, left))
      if (found === undefined) continue
      if (!profile.instructions || !files.isWanted) {
        unused.push(`${path} (${whyNone()})`)
        break
      }
      if (typeof found === 'string') {
        unused.push(`${path} (${found})`)
        continue
      }
      left -= found.bytes
      if (texts.some(({ text }) => text === found.text)) used.push(`${path} (the same text)`)
      else {
        texts.push({ path, text: found.text, isCut: found.isCut })
        used.push(found.isCut ? `${path} (its beginning)` : path)
      }
      break
    }
  const keptAway = await listFeatures(
    root,
    features.filter((one) => !(isTrusted && one.countsIfTrusted)),
  )
  return { texts, note: noteOf(used, unused, keptAway) }

  function whyNone(): string {
    return profile.instructions ? 'repositoryInstructions is false' : `profile ${profile.name} gives no instruction files`
  }
}

function noteOf(used: readonly string[], unused: readonly string[], keptAway: readonly string[]): string | undefined {
  const parts = [
    ...(used.length > 0 ? [`Used from the repository: ${used.join(', ')}.`] : []),
    ...(unused.length > 0 ? [`Not used: ${unused.join(', ')}.`] : []),
    ...(keptAway.length > 0
      ? [`Not used, because it can run code: ${keptAway.join(', ')} (docs/profiles.md says what to do instead).`]
      : []),
  ]
  return parts.length > 0 ? parts.join(' ') : undefined
}

/** The beginning of a text file; why it is not used; or undefined if there is nothing of that name. */
async function startOf(
  root: string,
  path: string,
  most: number,
): Promise<{ text: string; bytes: number; isCut: boolean } | string | undefined> {
  // A file that Pawl may not read ends no run: its agent does without it.
  return inFolderOf(join(root, path), read).catch((error: unknown) => `cannot be read: ${codeOf(error)}`)

  function read(folder: DirectoryHandle, name: string) {
    const stat = lstatSync(folder.at(name), { throwIfNoEntry: false })
    // A folder of that name may be a stub that covers it.
    if (!stat || stat.isDirectory()) return undefined
    if (stat.isSymbolicLink()) return 'a link'
    const file = openRegular(folder, name)
    if (file === undefined) return 'not a regular file'
    try {
      // One more than is used tells whether there is more.
      const bytes = Buffer.alloc(most + 1)
      const length = readStart(file, bytes)
      const start = bytes.subarray(0, Math.min(length, most))
      if (start.includes(0)) return 'not text'
      const isCut = length > most
      if (isCut && most === 0) return `the files before it have ${mostBytesInAll} bytes`
      if (length === 0) return undefined
      // A character that was cut in two is left out. What a reader cannot see is shown by its number, which is longer: it could tell the agent what nobody who reads the file knows.
      const text = visible(new TextDecoder().decode(start, { stream: isCut }))
      return { text: text.slice(0, most).toWellFormed(), bytes: start.length, isCut: isCut || text.length > most }
    } finally {
      closeSync(file)
    }
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? 'unknown'

/** Counts by kind, and paths for what has no kind. */
async function listFeatures(root: string, features: readonly RepositoryFeature[]): Promise<string[]> {
  const counts = new Map<string, { count: number; isCut: boolean }>()
  const paths: string[] = []
  const add = (called: string, count: number, isCut: boolean) => {
    const known = counts.get(called) ?? { count: 0, isCut: false }
    counts.set(called, { count: known.count + count, isCut: known.isCut || isCut })
  }
  await inFolder(root, async (top) => {
    for (const feature of features) {
      // What Pawl may not look into is left out of a line that only informs.
      const { found, hooks, isCut } = await look(top, feature).catch(() => ({ found: 0, hooks: 0, isCut: false }))
      if (feature.called !== undefined) add(feature.called, found, isCut)
      else if (found > 0) paths.push(feature.path)
      if (hooks > 0) add('hook', hooks, false)
    }
  })
  const counted = [...counts].flatMap(([called, { count, isCut }]) =>
    count === 0 ? [] : [`${isCut ? 'more than ' : ''}${count} ${called}${count === 1 ? '' : 's'}`],
  )
  return [...counted, ...paths]
}

/** How many regular files a pattern leads to, from open folder to open folder. */
async function look(
  top: DirectoryHandle,
  { path, hasHooks }: RepositoryFeature,
): Promise<{ found: number; hooks: number; isCut: boolean }> {
  const all = { found: 0, hooks: 0, isCut: false }
  const walk = async (folder: DirectoryHandle, [pattern = '', ...rest]: readonly string[]): Promise<void> => {
    for (const name of namesOf(folder, pattern)) {
      if (rest.length > 0) {
        const below = await openIn(folder, name)
        if (!below) continue
        try {
          await walk(below, rest)
        } finally {
          await below.close()
        }
        continue
      }
      if (lstatSync(folder.at(name), { throwIfNoEntry: false })?.isFile() !== true) continue
      all.found++
      if (hasHooks) all.hooks += hooksIn(readRegular(folder, name, mostSettingsBytes)?.toString('utf8'))
    }
  }
  const namesOf = (folder: DirectoryHandle, pattern: string): readonly string[] => {
    if (!pattern.includes('*')) return [pattern]
    const { names, isCut } = someNames(folder, mostNames)
    all.isCut ||= isCut
    const [before = '', after = ''] = pattern.split('*')
    return names.filter((name) => name.startsWith(before) && name.endsWith(after) && name.length > before.length + after.length)
  }
  await walk(top, path.split('/'))
  return all
}

/** `{"hooks": {"PreToolUse": [{"hooks": [{…}, {…}]}]}}` has two. What cannot be read has none that anybody would run. */
function hooksIn(text: string | undefined): number {
  try {
    const { hooks } = JSON.parse(text ?? '') as { hooks?: Record<string, { hooks?: unknown[] }[]> }
    return Object.values(hooks ?? {})
      .flat()
      .reduce((sum, matcher) => sum + (Array.isArray(matcher?.hooks) ? matcher.hooks.length : 0), 0)
  } catch {
    return 0
  }
}
