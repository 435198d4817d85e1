import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface PageFile {
  readonly content: Uint8Array<ArrayBuffer>
  readonly type: string
  /** Its name changes with its content, so that it never has to be asked for again. */
  readonly isFixed: boolean
}

export interface PageFiles {
  readonly shell: PageFile
  /** By path. */
  readonly files: ReadonlyMap<string, PageFile>
  /** The paths of screens; parts that begin with `$` may be anything. */
  readonly screens: readonly string[]
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
}

/** The built page, read once. Undefined where it was not built: from a checkout, "npm run build" does. */
export function readPage(folder = findFolder()): PageFiles | undefined {
  if (folder === undefined) return undefined
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => types[extname(name)])
  const files = new Map(
    names.map((name): [string, PageFile] => [
      `/${name}`,
      {
        content: new Uint8Array(readFileSync(join(folder, name))),
        type: types[extname(name)]!,
        isFixed: name.startsWith('assets/'),
      },
    ]),
  )
  const shell = files.get('/index.html')
  files.delete('/index.html')
  const screens = JSON.parse(readFileSync(join(folder, 'screens.json'), 'utf8')) as string[]
  return shell && { shell, files, screens }
}

/** From a checkout and from a bundle alike it lies at `dist/page` or `page` below a folder above this module. */
function findFolder(): string | undefined {
  const above = ['./', '../', '../../', '../../../']
  const candidates = above.flatMap((path) => [`${path}page`, `${path}dist/page`])
  return candidates
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(join(path, 'screens.json')))
}
