/** Builds the package: the command line and the library as bundles of our own code, the types beside them. Dependencies stay dependencies. */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { writeOwnPrograms } from './own-programs.ts'
import { buildPage } from './web-page.ts'

const root = resolve(import.meta.dirname, '..')
const dist = resolve(root, 'dist')
rmSync(dist, { recursive: true, force: true })
await buildPage()

const bundle = await rolldown({
  cwd: root,
  input: { cli: 'src/cli/main.ts', index: 'src/index.ts', agent: 'src/agent.ts', client: 'src/client/index.ts' },
  platform: 'node',
  external: /^[^./]/,
})
await bundle.write({ dir: dist, format: 'esm', chunkFileNames: '[name]-[hash].js', sourcemap: false })
await bundle.close()

await writeOwnPrograms(dist)

const tsc = [
  '--project',
  'tsconfig.json',
  '--noEmit',
  'false',
  '--emitDeclarationOnly',
  '--declaration',
  '--outDir',
  'dist/types',
  '--rootDir',
  'src',
]
execFileSync(resolve(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.build.json', ...tsc.slice(2)], {
  cwd: root,
  stdio: 'inherit',
})
