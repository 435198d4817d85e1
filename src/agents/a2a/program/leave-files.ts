import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Artifact } from '@a2a-js/sdk'

export interface LeftFiles {
  readonly left: readonly string[]
  readonly leftOut: readonly string[]
}

/** Files among a remote task's artifacts go where this run leaves its own; whoever keeps them there has bounds of their own. */
export async function leaveFiles(
  artifacts: Iterable<Artifact>,
  { folder, maxFileBytes, maxFiles }: { folder: string | undefined; maxFileBytes: number; maxFiles: number },
): Promise<LeftFiles> {
  const left: string[] = []
  const leftOut: string[] = []
  const used = new Set<string>()
  for (const { name, artifactId, parts } of artifacts)
    for (const { content, filename } of parts) {
      if (content?.$case !== 'raw') continue
      const wanted = safeName(filename || name || artifactId)
      if (folder === undefined || content.value.byteLength > maxFileBytes || left.length >= maxFiles) {
        leftOut.push(`${wanted} (${content.value.byteLength} bytes)`)
        continue
      }
      const free = freeName(wanted, used)
      used.add(free.toLowerCase())
      await writeFile(join(folder, free), content.value)
      left.push(free)
    }
  return { left, leftOut }
}

/** A name, and never a path: what a stranger calls a file decides nothing else. */
export function safeName(given: string): string {
  const last = given.split(/[/\\]/).at(-1) ?? ''
  const plain = last
    .replace(/[^\p{L}\p{N}._ ()-]/gu, '_')
    .replace(/^[.\s-]+/, '')
    .slice(0, 120)
    .trim()
  return plain === '' ? 'file' : plain
}

function freeName(name: string, used: ReadonlySet<string>): string {
  if (!used.has(name.toLowerCase())) return name
  const dot = name.lastIndexOf('.') > 0 ? name.lastIndexOf('.') : name.length
  for (let number = 2; ; number++) {
    const other = `${name.slice(0, dot)}-${number}${name.slice(dot)}`
    if (!used.has(other.toLowerCase())) return other
  }
}
