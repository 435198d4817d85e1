import { cpSync, mkdirSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { rolldown } from 'rolldown'

const root = resolve(import.meta.dirname, '..')

/** Writes Pawl as it is installed: the command line and the library as bundles of our own code. Dependencies stay dependencies. */
export async function writeProgram(dist: string): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    input: { cli: 'src/cli/main.ts', index: 'src/library/index.ts', agent: 'src/agents/port.ts', client: 'src/client/index.ts' },
    platform: 'node',
    external: /^[^./]/,
  })
  await bundle.write({
    dir: dist,
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
    // Nothing points to them, so no run pays for them: src/cli/terminal/source-places.ts reads one when there is a stack to show.
    sourcemap: 'hidden',
    sourcemapExcludeSources: true,
  })
  await bundle.close()
  await writeOwnPrograms(dist)
}

/** Writes the programs that a bundle of Pawl starts and does not contain. */
export async function writeOwnPrograms(dist: string): Promise<void> {
  // The demo's program is not part of our process: it is started, so it stays a file.
  mkdirSync(resolve(dist, 'agents/demo'), { recursive: true })
  cpSync(resolve(root, 'src/agents/demo/program.js'), resolve(dist, 'agents/demo/program.js'))

  // Nor are the programs that stand for agents inside the walls, which are many files here and one there, with the libraries that they use.
  for (const agent of ['ollama', 'a2a']) {
    const program = await rolldown({ cwd: root, input: { program: `src/agents/${agent}/program/main.ts` }, platform: 'node' })
    await program.write({ dir: resolve(dist, 'agents', agent), format: 'esm', sourcemap: false })
    await program.close()
  }

  // The threads: for what users, agents and models wrote, and for the beat of a worker. Their libraries stay dependencies.
  for (const folder of ['bounded', 'task-file', 'engine/beat']) {
    const thread = await rolldown({
      cwd: root,
      input: { 'thread-program': `src/${folder}/thread-program.ts` },
      platform: 'node',
      external: /^[^./]/,
    })
    await thread.write({ dir: resolve(dist, basename(folder)), format: 'esm', sourcemap: false })
    await thread.close()
  }
}
