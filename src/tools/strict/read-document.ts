import { z } from 'zod'
import { PawlError, unavailable } from '../../domain/error.ts'
import { reading, tool } from '../base/tool.ts'
import { documentEndings, textOfDocument } from '../documents/documents.ts'
import { readWhole } from '../files/content.ts'
import type { Place } from '../files/files.ts'
import { filePath } from './read.ts'
import type { RunInside, StrictParts } from './strict-parts.ts'

const mostBytes = 32 * 1024 * 1024
const pageCharacters = 100_000

export const readDocumentTool = ({ files, gate, runInside }: StrictParts) =>
  tool({
    name: 'ReadDocument',
    description: `Read the text of a document: ${documentEndings.join(', ')}, and pdf where pdftotext is installed. Layout and pictures are lost.`,
    annotations: reading,
    input: z.strictObject({
      file_path: filePath.describe('The document.'),
      page: z.int().min(1).optional().describe(`Which ${pageCharacters} characters of its text; 1 if left out.`),
    }),
    async run({ file_path, page = 1 }, _, signal) {
      const place = await files.find(file_path)
      await gate('ReadDocument', { file_path: place.path })
      const ending = /\.([A-Za-z0-9]+)$/.exec(place.path)?.[1]?.toLowerCase() ?? ''
      const { bytes } = await readWhole(files, place, mostBytes)
      const text = ending === 'pdf' ? await textOfPdf(place, runInside, signal) : await textOfDocument(bytes, ending)
      if (text === undefined)
        throw new PawlError(
          'unsupported',
          `${place.path} is of a kind that cannot be read; known are ${documentEndings.join(', ')}, pdf.`,
        )
      const pages = Math.max(1, Math.ceil(text.length / pageCharacters))
      if (page > pages) return `${place.path} has ${pages} pages of text; there is no page ${page}.`
      const shown = text.slice((page - 1) * pageCharacters, page * pageCharacters)
      return (
        (shown === '' ? `${place.path} holds no text.` : shown) +
        (pages > page ? `\n… there is more: read page ${page + 1} of ${pages}.` : '')
      )
    },
  })

/** The format is a program of its own to read, and many a reader of it was broken into: so it is read inside the walls or not at all. */
async function textOfPdf(place: Place, runInside: RunInside | undefined, signal: AbortSignal): Promise<string> {
  const absent = () =>
    new PawlError('unsupported', 'PDF files cannot be read here: pdftotext is not installed (Debian: poppler-utils).')
  if (!runInside) throw absent()
  const command = `command -v pdftotext >/dev/null || exit 127; exec pdftotext -layout -enc UTF-8 -- '${place.path.replaceAll("'", `'\\''`)}' -`
  const { stdout, stderr, code } = await runInside(command, { timeoutMs: 60_000, signal, mostBytes: 8 * 1024 * 1024 })
  if (code === 127) throw absent()
  if (code !== 0) throw unavailable(`${place.path} could not be read as PDF: ${stderr.trim().slice(0, 300)}`)
  return stdout
}
