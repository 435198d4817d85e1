import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { Part } from '@a2a-js/sdk'

const maxBytes = 25 * 1024 * 1024

export const textPart = (text: string): Part => ({
  content: { $case: 'text', value: text },
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
})

/** The files that came with the task. Those that would make the message too large are named instead. */
export async function fileParts(folder: string | undefined): Promise<{ parts: Part[]; leftOut: string[] }> {
  if (folder === undefined) return { parts: [], leftOut: [] }
  const parts: Part[] = []
  const leftOut: string[] = []
  let bytes = 0
  for (const filename of (await readdir(folder)).toSorted()) {
    const path = join(folder, filename)
    const { size } = await stat(path)
    if (bytes + size > maxBytes) {
      leftOut.push(filename)
      continue
    }
    bytes += size
    parts.push({
      content: { $case: 'raw', value: await readFile(path) },
      metadata: undefined,
      filename,
      mediaType: typeOf(filename),
    })
  }
  return { parts, leftOut }
}

const types: Readonly<Record<string, string>> = {
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.json': 'application/json',
  '.yaml': 'application/yaml',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
}
const typeOf = (name: string) => {
  const ending = extname(name).toLowerCase()
  return Object.hasOwn(types, ending) ? types[ending]! : 'application/octet-stream'
}

/** What parts say in words. Files are not among them; where one lies elsewhere is told, and nobody goes there. */
export const wordsOf = (parts: readonly Part[]): string =>
  parts
    .map(({ content, filename }) => {
      if (content?.$case === 'text') return content.value
      if (content?.$case === 'data') return JSON.stringify(content.value, null, 2) ?? ''
      if (content?.$case === 'url') return `[${filename || 'a file'}: ${content.value}]`
      return ''
    })
    .filter((text) => text !== '')
    .join('\n')

/** What somebody says: their words, if there are any; what stands beside them is for programs. */
export function speechOf(parts: readonly Part[]): string {
  const spoken = parts.filter(({ content }) => content?.$case === 'text')
  return wordsOf(spoken).trim() === '' ? wordsOf(parts) : wordsOf(spoken)
}

/** Answers that are offered, where somebody says so in the data beside their words. */
export function optionsIn(parts: readonly Part[]): string[] {
  const offered = parts.flatMap(({ content }) =>
    content?.$case === 'data' ? [(content.value as { options?: unknown } | null)?.options] : [],
  )
  const texts = offered
    .find(Array.isArray)
    ?.filter((option) => typeof option === 'string' && option !== '' && option.length <= 1_024)
  return (texts ?? []).slice(0, 20)
}

/** Pieces of one text that came in several parts belong together as they are. */
export const joinedWords = (parts: readonly Part[]): string =>
  parts.every(({ content }) => content?.$case === 'text') ? parts.map((part) => wordsOf([part])).join('') : wordsOf(parts)
