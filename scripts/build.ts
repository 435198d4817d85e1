/** Builds the package: the command line and the library as bundles of our own code, the types beside them. Dependencies stay dependencies. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { rolldown } from 'rolldown'
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

// The demo's program is not part of our process: it is started, so it stays a file.
mkdirSync(resolve(dist, 'agents/demo'), { recursive: true })
cpSync(resolve(root, 'src/agents/demo/program.js'), resolve(dist, 'agents/demo/program.js'))

// Nor are the programs that stand for agents inside the walls, which are many files here and one there, with the libraries that they use.
for (const agent of ['ollama', 'a2a']) {
  const program = await rolldown({ cwd: root, input: { program: `src/agents/${agent}/program/main.ts` }, platform: 'node' })
  await program.write({ dir: resolve(dist, 'agents', agent), format: 'esm', sourcemap: false })
  await program.close()
}

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
