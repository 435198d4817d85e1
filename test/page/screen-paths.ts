import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'

/** The path of every screen that the page has, so that none is forgotten. Read as text: these tests know nothing of JSX. */
export async function screenPaths(): Promise<string[]> {
  const source = await readFile(resolve(import.meta.dirname, '../../web/src/app/screens.ts'), 'utf8')
  const paths = [...source.matchAll(/\bpath: '([^']+)'/g)].map(([, path]) => path!)
  if (paths.length < 11)
    throw new Error('web/src/app/screens.ts is written in another way than test/page/screen-paths.ts reads it.')
  return paths
}
