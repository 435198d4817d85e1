import { z } from 'zod'
import { createGate } from '../../base/gate.ts'
import { createFileFilter } from '../../bounded/file-pattern.ts'
import type { ShownLine } from '../../bounded/jobs.ts'
import { type Ask, onThread, TookTooLong } from '../../bounded/thread.ts'
import { invalid, PawlError } from '../../domain/error.ts'
import { asManyAsFit, isBinary } from '../base/answer-text.ts'
import { reading, tool } from '../base/tool.ts'
import { readWhole } from '../files/content.ts'
import type { Files, Place } from '../files/files.ts'
import { type WalkLimits, walk } from '../files/walk.ts'
import { below, existing, lookedNote } from './list.ts'
import { filePath } from './read.ts'
import type { StrictParts } from './strict-parts.ts'

const mostFileBytes = 4 * 1024 * 1024
const mostBytes = 512 * 1024 * 1024
/** Searches of all runs take turns on two threads. */
const line = createGate(2)
const deadlineMs = 10_000

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
      const fits = fileFilter(input)
      const place = await existing(files, path)
      await gate('Grep', { ...input, path: place.path })
      const around = { before: input['-B'] ?? input['-C'] ?? 0, after: input['-A'] ?? input['-C'] ?? 0 }
      const style = { isApart: around.before + around.after > 0, numbers: input['-n'] ?? true }
      const limits: WalkLimits = { left: 200_000, signal }
      const search = { bytes: 0, passedOver: 0 }
      const answer: string[] = []
      await searching(input, signal, async (ask) => {
        for await (const file of filesBelow(files, place, limits)) {
          if (answer.length > most || search.bytes > mostBytes) break
          if (!(await fits(below(place, file.path) || (file.names.at(-1) ?? ''))) || !mayRead(file.path)) continue
          const bytes = await textOf(files, file, search)
          const { hits, shown } = bytes ? await ask('lines', { bytes, most, ...around }) : { hits: 0, shown: [] }
          if (hits === 0) continue
          if (mode === 'files_with_matches') answer.push(file.path)
          else if (mode === 'count') answer.push(`${file.path}:${hits}`)
          else answer.push(...linesShown(file.path, shown, style))
        }
      })
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

function fileFilter({
  glob,
  type,
}: {
  glob?: string | undefined
  type?: string | undefined
}): (path: string) => Promise<boolean> {
  const patterns = [type === undefined ? undefined : types[type], glob === undefined || glob.includes('/') ? glob : `**/${glob}`]
  const given = patterns.filter((pattern) => pattern !== undefined)
  const fits = createFileFilter(given)
  return async (path) => (await fits(path)) === given.length
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
async function textOf(files: Files, file: Place, search: { bytes: number; passedOver: number }): Promise<Buffer | undefined> {
  try {
    const { bytes } = await readWhole(files, file, mostFileBytes)
    search.bytes += bytes.length
    return isBinary(bytes) ? undefined : bytes
  } catch (error) {
    if (!(error instanceof PawlError)) throw error
    if (error.code === 'unsupported') search.passedOver++
    return undefined
  }
}

/** On a thread: this process serves every run, and a pattern that is large or finds nothing for long takes its time. */
async function searching(
  input: { readonly pattern: string; readonly '-i'?: boolean | undefined },
  signal: AbortSignal,
  work: (ask: Ask) => Promise<void>,
): Promise<void> {
  try {
    await onThread({ line, deadlineMs, signal }, async (ask) => {
      await ask('search', { pattern: input.pattern, ignoreCase: input['-i'] ?? false })
      await work(ask)
    })
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error
    throw invalid('This pattern takes too long here; make it simpler, or search in fewer files.')
  }
}

function linesShown(
  path: string,
  shown: readonly ShownLine[],
  { isApart, numbers }: { isApart: boolean; numbers: boolean },
): string[] {
  return shown.flatMap(({ number, isHit, text }, index) => {
    const sign = isHit ? ':' : '-'
    const line = `${path}${sign}${numbers ? `${number}${sign}` : ''}${text}`
    const before = shown[index - 1]
    return isApart && before !== undefined && number > before.number + 1 ? ['--', line] : [line]
  })
}
