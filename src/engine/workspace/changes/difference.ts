import type { ChangedFile, FileStatus } from '../../../domain/view/changes.ts'
import { redactPatch } from './redact-patch.ts'
import type { Picture } from './snapshot.ts'

/** What is different between two pictures, as it is kept. */
export interface Difference {
  readonly files: readonly ChangedFile[]
  /** One for each file, in the same order; empty where nothing is kept. */
  readonly patches: readonly string[]
  readonly fileCount: number
  readonly added: number
  readonly removed: number
  /** What is not in here, in a sentence. */
  readonly why: string | undefined
}

export interface KeptLimits {
  /** Files that are named. */
  readonly files: number
  readonly patchBytes: number
  readonly filePatchBytes: number
}

export const usualKept: KeptLimits = { files: 5_000, patchBytes: 1_000_000, filePatchBytes: 250_000 }

/** `list` and `patch` are what git wrote; undefined where the trees are the same. */
export function differenceOf(
  before: Picture,
  after: Picture,
  { list, patch, redact }: { list: Buffer | undefined; patch: Buffer | undefined; redact: (text: string) => string },
  limits = usualKept,
): Difference {
  const found = list ? readList(list) : []
  const sections = patch ? sectionsOf(patch.toString('utf8')) : []
  const byGit = found.map((file) => {
    // A change of type is told as a removal and a new file.
    const texts = sections.splice(0, file.status === 'retyped' ? 2 : 1)
    // Redacted before it is cut, so that no half of a secret is left; what is far too long will be cut in any case.
    return { file, text: redactPatch(texts.join('').slice(0, 2 * limits.filePatchBytes), redact) }
  })
  const all = [...byGit, ...largeChanges(before, after, byGit)].toSorted((one, other) =>
    one.file.path < other.file.path ? -1 : 1,
  )
  const told = all.slice(0, limits.files)
  let left = limits.patchBytes
  const patches = told.map(({ text }) => {
    const kept = cut(text, Math.min(left, limits.filePatchBytes))
    left -= kept.length
    return kept
  })
  const files = told.map(
    ({ file, text }, at): ChangedFile => ({
      ...file,
      patch: text === '' ? 'none' : patches[at] === text ? 'whole' : patches[at] === '' ? 'none' : 'cut',
    }),
  )
  const sum = (key: 'added' | 'removed') => all.reduce((total, { file }) => total + (file[key] ?? 0), 0)
  return {
    files,
    patches,
    fileCount: all.length,
    added: sum('added'),
    removed: sum('removed'),
    why: leftOut(before, after, { all: all.length, told: files, limits }),
  }
}

type Told = Omit<ChangedFile, 'patch'>

const statuses: Readonly<Record<string, FileStatus>> = { A: 'added', M: 'modified', D: 'deleted', R: 'renamed', T: 'retyped' }

/** `--raw --numstat -z`: first what became of each file, then its lines, in the same order. */
function readList(list: Buffer): Told[] {
  const words = list.toString('utf8').split('\0')
  const files: Told[] = []
  let at = 0
  while (words[at]?.startsWith(':')) {
    const letter = words[at]!.split(' ').at(-1)?.[0] ?? 'M'
    const isRenamed = letter === 'R'
    const from = isRenamed ? (words[at + 1] ?? '') : null
    const path = words[at + (isRenamed ? 2 : 1)] ?? ''
    files.push({ path, from, status: statuses[letter] ?? 'modified', added: null, removed: null, binary: true })
    at += isRenamed ? 3 : 2
  }
  for (const [number, file] of files.entries()) {
    const [added, removed, path] = (words[at] ?? '').split('\t')
    at += path === '' ? 3 : 1
    // A dash stands for a binary file.
    if (added === undefined || added === '-' || added === '') continue
    files[number] = { ...file, added: Number(added), removed: Number(removed), binary: false }
  }
  return files
}

/** No line of a file begins like this: there each has a sign before it. */
const sectionsOf = (patch: string) => (patch === '' ? [] : patch.split(/^(?=diff --git )/m))

/** What was not put into the store is known by its size and times. */
function largeChanges(before: Picture, after: Picture, byGit: readonly { file: Told }[]): { file: Told; text: string }[] {
  const known = new Set(byGit.map(({ file }) => file.path))
  const told = (path: string, status: FileStatus) => ({
    file: { path, from: null, status, added: null, removed: null, binary: true },
    text: '',
  })
  const changed = Object.entries(after.large).flatMap(([path, mark]) =>
    known.has(path) || before.large[path] === mark ? [] : [told(path, before.large[path] === undefined ? 'added' : 'modified')],
  )
  const gone = Object.keys(before.large).flatMap((path) =>
    known.has(path) || after.large[path] !== undefined ? [] : [told(path, 'deleted')],
  )
  return [...changed, ...gone]
}

/** At the end of a line. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const end = text.lastIndexOf('\n', most)
  // The names alone are of no use.
  return end < 1_000 ? '' : text.slice(0, end + 1)
}

function leftOut(
  before: Picture,
  after: Picture,
  { all, told, limits }: { all: number; told: readonly ChangedFile[]; limits: KeptLimits },
): string | undefined {
  const sentences: string[] = []
  if (all > told.length) sentences.push(`Only the first ${limits.files} of ${all} files are named.`)
  const short = told.filter(({ patch, binary }) => !binary && patch !== 'whole').length
  if (short > 0)
    sentences.push(
      `The difference of ${short === 1 ? '1 file' : `${short} files`} is not kept whole: at most ${kilobytes(limits.filePatchBytes)} of a file and ${kilobytes(limits.patchBytes)} of a run are.`,
    )
  const nested = [...new Set([...before.nested, ...after.nested])].toSorted()
  if (nested.length > 0)
    sentences.push(
      `Not looked into, because they are repositories of their own: ${nested.slice(0, 10).join(', ')}${nested.length > 10 ? ', …' : ''}.`,
    )
  return sentences.length > 0 ? sentences.join(' ') : undefined
}

const kilobytes = (bytes: number) => `${Math.round(bytes / 1_000)} KB`
