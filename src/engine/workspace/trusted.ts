import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { Profile } from '../../domain/profile/profile.ts'
import type { CodePath } from '../../domain/workspace/code-paths.ts'
import { readRegularAt } from '../../sandbox/files/read-file.ts'
import { capture, mostCodeBytes } from './capture.ts'
import { type FoundAll, findCode } from './find-code.ts'
import { cleanGitConfig } from './git-config.ts'

/** What a person trusts when they trust a repository: all its configuration that would be covered otherwise, as it is now. */
export async function configurationDigest(path: string, options: { paths: readonly CodePath[]; home: string }): Promise<string> {
  const root = await realpath(path)
  return digest(root, await findCode(root, { paths: options.paths, without: options.home }))
}

/** Does a profile trust this workspace by its path, and with the configuration that it has now? */
export async function isTrusted(
  { source, path }: { source: string; path: string },
  found: FoundAll,
  trusted: Profile['trusted'],
): Promise<boolean> {
  const here = trusted.filter((one) => one.path === path)
  if (here.length === 0) return false
  const now = await digest(source, found)
  return here.some((one) => one.digest === now)
}

const isNoReasonToAsk: ReadonlySet<string> = new Set(['flagged', 'text', 'secret', 'dot'])

/** Of git's settings only those that run something: a new remote is no reason to ask again. */
async function digest(root: string, found: FoundAll): Promise<string> {
  const hash = createHash('sha256')
  for (const code of found.code.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    if (isNoReasonToAsk.has(code.is)) continue
    const content =
      code.is === 'git-config' && code.kind === 'file'
        ? await restAt(root, code.path)
        : (await capture(root, code.path, { keep: false }))?.digest
    hash.update(JSON.stringify([code.path, code.is, content]))
  }
  return `sha256:${hash.digest('hex')}`
}

async function restAt(root: string, path: string): Promise<string> {
  const text = (await readRegularAt(join(root, path), mostCodeBytes))?.toString('utf8')
  return text === undefined ? '' : (cleanGitConfig(text).rest ?? text)
}
