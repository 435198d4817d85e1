import { stat } from 'node:fs/promises'

/** Tells one content of a file from another, as far as that can be told without reading it. Undefined where there is none. */
export async function fileMark(path: string | undefined): Promise<string | undefined> {
  const found = path === undefined ? undefined : await stat(path).catch(() => undefined)
  return found && [found.dev, found.ino, found.size, found.mtimeMs, found.ctimeMs].join(' ')
}
