import { existsSync, globSync, statSync } from 'node:fs'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const built = resolve(root, 'dist/page/screens.json')

/** The page that `pawl serve` serves, from web/ into dist/page. */
export async function buildPage(): Promise<void> {
  // Whoever builds may have another one in their environment, and vite would make of it a page for developers.
  process.env.NODE_ENV = 'production'
  // Loaded only where there is something to build, which most starts have not.
  const { build } = await import('vite')
  await build({ configFile: resolve(root, 'web/vite.config.ts'), logLevel: 'warn' })
}

/** Whether something of which the page is made is newer than the page. */
export function isPageStale(): boolean {
  if (!existsSync(built)) return true
  const madeAt = statSync(built).mtimeMs
  const sources = ['web/**/*', 'src/client/**/*.ts', 'src/domain/**/*.ts', 'src/cli/text/*.ts', 'package-lock.json']
  return globSync(sources, { cwd: root }).some((file) => statSync(resolve(root, file)).mtimeMs > madeAt)
}
