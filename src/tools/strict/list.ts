import { lstat } from 'node:fs/promises'
import { z } from 'zod'
import { createFileFilter } from '../../bounded/file-pattern.ts'
import { notFound } from '../../domain/error.ts'
import { asManyAsFit } from '../base/answer-text.ts'
import { reading, tool } from '../base/tool.ts'
import type { Files, Place } from '../files/files.ts'
import { type Entry, entriesOf, type WalkLimits, walk } from '../files/walk.ts'
import { filePath } from './read.ts'
import type { StrictParts } from './strict-parts.ts'

const mostEntries = 1_000
const mostLooked = 200_000
const mostFound = 500

export const lsTool = ({ files, gate }: StrictParts) =>
  tool({
    name: 'LS',
    description: 'List what a folder holds. Folders end with "/", links with "@".',
    annotations: reading,
    input: z.strictObject({
      path: filePath.optional().describe('The folder; the workspace if left out.'),
      ignore: z.array(z.string().min(1).max(1_024)).max(50).optional().describe('Patterns of names to leave out.'),
    }),
    async run({ path = '.', ignore = [] }) {
      const place = await existing(files, path)
      await gate('LS', { path: place.path })
      const ignored = createFileFilter(ignore)
      const entries: Entry[] = []
      for (const entry of await entriesOf(files, place)) if ((await ignored(entry.name)) === 0) entries.push(entry)
      if (entries.length === 0) return `${place.path} holds nothing that can be shown.`
      const lines = entries.slice(0, mostEntries).map(({ name, kind }) => `${name}${marks[kind]}`)
      const { text, left } = asManyAsFit(lines)
      const more = left + entries.length - lines.length
      return `${place.path}\n${text}${more > 0 ? `\n… and ${more} more; use Glob to find what you look for.` : ''}`
    },
  })

const marks = { file: '', folder: '/', link: '@', other: '' } satisfies Record<Entry['kind'], string>

export const globTool = ({ files, gate }: StrictParts) =>
  tool({
    name: 'Glob',
    description: 'Find files by a pattern of their paths, like "**/*.ts" or "src/{a,b}/*.md"; the newest come first.',
    annotations: reading,
    input: z.strictObject({
      pattern: z
        .string()
        .min(1)
        .max(1_024)
        .describe('Held against the path below the folder. "*" stays within one name, "**" goes through folders.'),
      path: filePath.optional().describe('The folder to look in; the workspace if left out.'),
    }),
    async run({ pattern, path = '.' }, _, signal) {
      const fits = createFileFilter([pattern])
      const place = await existing(files, path)
      await gate('Glob', { path: place.path, pattern })
      const limits: WalkLimits = { left: mostLooked, signal }
      const found: { path: string; newest: number }[] = []
      for await (const entry of walk(files, place, limits))
        if (entry.kind !== 'folder' && (await fits(below(place, entry.place.path))) > 0 && found.length < mostLooked)
          found.push({ path: entry.place.path, newest: await changedAt(files, entry.place) })
      if (found.length === 0) return `No file below ${place.path} fits ${pattern}.`
      const lines = found.toSorted((a, b) => b.newest - a.newest).map((each) => each.path)
      const { text, left } = asManyAsFit(lines.slice(0, mostFound))
      const more = left + Math.max(0, lines.length - mostFound)
      return text + (more > 0 ? `\n… and ${more} more; use a narrower pattern.` : '') + lookedNote(limits)
    },
  })

export const below = (place: Place, path: string) => path.slice(place.path === '/' ? 1 : place.path.length + 1)

export const lookedNote = (limits: WalkLimits) =>
  limits.left < 0 ? '\n… there is too much below it; not all was looked at. Name a folder.' : ''

export async function existing(files: Files, path: string): Promise<Place> {
  const place = await files.find(path)
  if (!place.exists) throw notFound(`${place.path} does not exist.`)
  return place
}

async function changedAt(files: Files, place: Place): Promise<number> {
  const name = place.names.at(-1)
  if (name === undefined) return 0
  const folder = await files.enter({ ...place, names: place.names.slice(0, -1) }).catch(() => undefined)
  try {
    return folder ? (await lstat(folder.at(name))).mtimeMs : 0
  } catch {
    // Gone meanwhile: it only comes last.
    return 0
  } finally {
    await folder?.close()
  }
}
