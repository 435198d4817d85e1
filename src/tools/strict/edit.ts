import { z } from 'zod'
import { conflict, invalid, notFound, PawlError } from '../../domain/error.ts'
import { isBinary } from '../base/answer-text.ts'
import { changing, tool } from '../base/tool.ts'
import { readWhole, writeWhole } from '../files/content.ts'
import type { Place } from '../files/files.ts'
import { filePath } from './read.ts'
import type { StrictParts } from './strict-parts.ts'

const mostBytes = 10 * 1024 * 1024

export const writeTool = ({ files, gate }: StrictParts) =>
  tool({
    name: 'Write',
    description:
      'Write a whole text file; one that is there is replaced, and missing folders are made. To change a part of a file use Edit.',
    annotations: changing,
    input: z.strictObject({
      file_path: filePath.describe('The file, by its whole path or relative to the workspace.'),
      content: z.string().describe('The whole new content.'),
    }),
    async run({ file_path, content }) {
      const place = await files.find(file_path)
      await gate('Write', { file_path: place.path, content })
      const bytes = Buffer.from(content)
      await writeWhole(files, place, bytes)
      return `${place.exists ? 'Replaced' : 'Wrote'} ${place.path} (${bytes.length} bytes).`
    },
  })

const change = {
  old_string: z.string().min(1).describe('The text to replace, exactly as it stands in the file, without line numbers.'),
  new_string: z.string().describe('What comes in its place.'),
  replace_all: z
    .boolean()
    .optional()
    .describe('Replace it wherever it stands. Otherwise it must stand in the file exactly once.'),
}
const Change = z.strictObject(change)
type Change = z.infer<typeof Change>

export const editTool = ({ files, gate }: StrictParts) =>
  tool({
    name: 'Edit',
    description: 'Replace a text in a file by another. The text must be exact and stand there once, unless replace_all is set.',
    annotations: changing,
    input: z.strictObject({ file_path: filePath.describe('The file to change.'), ...change }),
    async run({ file_path, ...edit }) {
      const place = await files.find(file_path)
      await gate('Edit', { file_path: place.path, ...edit })
      return applyTo(files, place, [edit])
    },
  })

export const multiEditTool = ({ files, gate }: StrictParts) =>
  tool({
    name: 'MultiEdit',
    description:
      'Make several replacements in one file, one after the other, each on what the one before left. All are made, or none.',
    annotations: changing,
    input: z.strictObject({
      file_path: filePath.describe('The file to change.'),
      edits: z.array(Change).min(1).max(100).describe('The replacements, in order.'),
    }),
    async run({ file_path, edits }) {
      const place = await files.find(file_path)
      await gate('MultiEdit', { file_path: place.path, edits })
      return applyTo(files, place, edits)
    },
  })

async function applyTo(files: StrictParts['files'], place: Place, edits: readonly Change[]): Promise<string> {
  files.mustBeWritable(place)
  const { bytes, stats } = await readWhole(files, place, mostBytes)
  if (isBinary(bytes) || !bytes.equals(Buffer.from(bytes.toString('utf8'))))
    throw new PawlError('unsupported', `${place.path} is no text in UTF-8, so it cannot be edited; use Bash.`)
  let text = bytes.toString('utf8')
  let count = 0
  for (const [index, edit] of edits.entries()) {
    const which = edits.length === 1 ? '' : ` (edit ${index + 1} of ${edits.length}; none was made)`
    const made = replaced(text, edit, place.path, which)
    text = made.text
    count += made.count
  }
  await writeWhole(files, place, Buffer.from(text), stats)
  return `Changed ${place.path} in ${count} ${count === 1 ? 'place' : 'places'}.`
}

function replaced(text: string, edit: Change, path: string, which: string): { text: string; count: number } {
  const { old_string: old, new_string: fresh, replace_all: all = false } = edit
  if (old === fresh) throw invalid(`old_string and new_string are the same${which}.`)
  const count = countOf(text, old)
  if (count === 0) throw notFound(`old_string does not stand in ${path}${which}; read the file again and give the text exactly.`)
  if (count > 1 && !all)
    throw conflict(`old_string stands ${count} times in ${path}${which}; give more of the text around it, or set replace_all.`)
  if (text.length + count * (fresh.length - old.length) > mostBytes)
    throw new PawlError('unsupported', `${path} would become larger than ${mostBytes} bytes${which}.`)
  return { text: text.split(old).join(fresh), count }
}

function countOf(text: string, part: string): number {
  let count = 0
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) count++
  return count
}
