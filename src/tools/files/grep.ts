import { setImmediate as breathe } from 'node:timers/promises'
import { z } from 'zod'
import { PawlError } from '../../domain/error.ts'
import { asManyAsFit, isBinary } from '../answer-text.ts'
import { compileFilePattern } from '../regex/file-pattern.ts'
import { compileRegex, type Regex, type Search } from '../regex/regex.ts'
import type { StrictParts } from '../strict-parts.ts'
import { reading, tool } from '../tool.ts'
import { readWhole } from './content.ts'
import type { Files, Place } from './files.ts'
import { below, existing, lookedNote } from './list.ts'
import { filePath } from './read.ts'
import { type WalkLimits, walk } from './walk.ts'

const mostFileBytes = 4 * 1024 * 1024
const mostBytes = 512 * 1024 * 1024
const longestLine = 500
const linesPerBreath = 5_000

const types: Record<string, string> = {
  ts: '**/*.{ts,tsx,mts,cts}',
  js: '**/*.{js,jsx,mjs,cjs}',
  py: '**/*.{py,pyi}',
  rust: '**/*.rs',
  go: '**/*.go',
  java: '**/*.java',
  c: '**/*.{c,h}',
  cpp: '**/*.{cc,cpp,cxx,hh,hpp,h}',
  ruby: '**/*.rb',
  php: '**/*.php',
  html: '**/*.{html,htm}',
  css: '**/*.{css,scss,less}',
  md: '**/*.{md,markdown,mdx}',
  json: '**/*.{json,jsonl}',
  yaml: '**/*.{yaml,yml}',
  toml: '**/*.toml',
  sh: '**/*.{sh,bash,zsh}',
  sql: '**/*.sql',
}
const context = z.int().min(0).max(50).optional()

export const grepTool = ({ files, gate, mayRead }: StrictParts) =>
  tool({
    name: 'Grep',
    description:
      'Search the lines of files with a regular expression. Known are the usual signs, classes, groups, repetitions, anchors and \\b; not looking ahead or behind, nor referring back. Files that are no text, or are huge, are passed over.',
    annotations: reading,
    input: z.strictObject({
      pattern: z.string().min(1).max(1_024).describe('The regular expression.'),
      path: filePath.optional().describe('A file, or the folder to search in; the workspace if left out.'),
      glob: z
        .string()
        .min(1)
        .max(1_024)
        .optional()
        .describe('Only files whose path, or name if there is no slash in it, fits, like "*.ts".'),
      type: z
        .enum(Object.keys(types) as [string, ...string[]])
        .optional()
        .describe('Only files of this kind.'),
      output_mode: z
        .enum(['files_with_matches', 'content', 'count'])
        .optional()
        .describe('Paths (if left out), lines, or how many lines.'),
      '-i': z.boolean().optional().describe('Regard letters without their case.'),
      '-n': z.boolean().optional().describe('Numbers before lines; set if left out.'),
      '-A': context.describe('Lines to show after each.'),
      '-B': context.describe('Lines to show before each.'),
      '-C': context.describe('Lines to show before and after each.'),
      head_limit: z.int().min(1).max(2_000).optional().describe('How many lines the answer has at most; 250 if left out.'),
    }),
    async run(input, _, signal) {
      const { path = '.', output_mode: mode = 'files_with_matches', head_limit: most = 250 } = input
      const regex = compileRegex(input.pattern, { ignoreCase: input['-i'] ?? false })
      const fits = fileFilter(input)
      const place = await existing(files, path)
      await gate('Grep', { ...input, path: place.path })
      const around = {
        before: input['-B'] ?? input['-C'] ?? 0,
        after: input['-A'] ?? input['-C'] ?? 0,
        numbers: input['-n'] ?? true,
      }
      const limits: WalkLimits = { left: 200_000, signal }
      const search = { bytes: 0, passedOver: 0 }
      const answer: string[] = []
      for await (const file of filesBelow(files, place, limits)) {
        if (answer.length > most || search.bytes > mostBytes) break
        if (!fits(below(place, file.path) || (file.names.at(-1) ?? '')) || !mayRead(file.path)) continue
        const lines = await linesOf(files, file, search)
        const hits = lines ? await matching(lines, regex, signal) : []
        if (!lines || hits.length === 0) continue
        if (mode === 'files_with_matches') answer.push(file.path)
        else if (mode === 'count') answer.push(`${file.path}:${hits.length}`)
        else answer.push(...withContext(file.path, lines, hits, around))
      }
      if (answer.length === 0) return `Nothing below ${place.path} matches.${notes()}`
      const { text, left } = asManyAsFit(answer.slice(0, most))
      const isCut = left > 0 || answer.length > most || search.bytes > mostBytes
      return text + (isCut ? '\n… there is more; search in fewer files, or for something rarer.' : '') + notes()

      function notes(): string {
        const huge =
          search.passedOver > 0
            ? `\n… ${search.passedOver} files are larger than ${mostFileBytes} bytes and were passed over.`
            : ''
        return huge + lookedNote(limits)
      }
    },
  })

function fileFilter({ glob, type }: { glob?: string | undefined; type?: string | undefined }): (path: string) => boolean {
  const patterns = [type === undefined ? undefined : types[type], glob === undefined || glob.includes('/') ? glob : `**/${glob}`]
  const filters = patterns.filter((pattern) => pattern !== undefined).map(compileFilePattern)
  return (path) => filters.every((fits) => fits(path))
}

async function* filesBelow(files: Files, place: Place, limits: WalkLimits): AsyncGenerator<Place> {
  if (!(await isFolder(files, place))) {
    yield place
    return
  }
  for await (const { kind, place: file } of walk(files, place, limits)) if (kind === 'file') yield file
}

async function isFolder(files: Files, place: Place): Promise<boolean> {
  try {
    await (await files.enter(place)).close()
    return true
  } catch (error) {
    if (error instanceof PawlError && error.code === 'invalid') return false
    throw error
  }
}

/** Undefined for what cannot be searched: it is gone, not ours to read, too large, or no text. */
async function linesOf(files: Files, file: Place, search: { bytes: number; passedOver: number }): Promise<string[] | undefined> {
  try {
    const { bytes } = await readWhole(files, file, mostFileBytes)
    search.bytes += bytes.length
    return isBinary(bytes) ? undefined : bytes.toString('utf8').split('\n')
  } catch (error) {
    if (!(error instanceof PawlError)) throw error
    if (error.code === 'unsupported') search.passedOver++
    return undefined
  }
}

/** The indexes of the lines that match. Lets others have their turn meanwhile: this process serves every run. */
async function matching(lines: readonly string[], regex: Regex, signal: AbortSignal): Promise<number[]> {
  const hits: number[] = []
  const pause = async () => {
    await breathe()
    signal.throwIfAborted()
  }
  for (const [index, written] of lines.entries()) {
    const line = written.endsWith('\r') ? written.slice(0, -1) : written
    const search: Search = { line, at: 0 }
    let isHit = regex.resume(search)
    while (isHit === undefined) {
      await pause()
      isHit = regex.resume(search)
    }
    // What comes after the last end of line is no line.
    if (isHit && !(written === '' && index === lines.length - 1)) hits.push(index)
    if (index % linesPerBreath === linesPerBreath - 1) await pause()
  }
  return hits
}

function withContext(
  path: string,
  lines: readonly string[],
  hits: readonly number[],
  { before, after, numbers }: { before: number; after: number; numbers: boolean },
): string[] {
  const shown = new Map<number, boolean>()
  for (const hit of hits) {
    for (let n = Math.max(0, hit - before); n <= Math.min(lines.length - 1, hit + after); n++) shown.set(n, shown.get(n) ?? false)
    shown.set(hit, true)
  }
  const answer: string[] = []
  let last: number | undefined
  for (const [n, isHit] of [...shown].toSorted(([a], [b]) => a - b)) {
    if (last !== undefined && n > last + 1 && before + after > 0) answer.push('--')
    last = n
    const line = lines[n] ?? ''
    const sign = isHit ? ':' : '-'
    answer.push(
      `${path}${sign}${numbers ? `${n + 1}${sign}` : ''}${line.length > longestLine ? `${line.slice(0, longestLine)}…` : line}`,
    )
  }
  return answer
}
