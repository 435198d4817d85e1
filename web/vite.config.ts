import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Tells the server which paths are screens, so that it need not be told a second time. */
const screenPaths: Plugin = {
  name: 'screen-paths',
  generateBundle() {
    const source = readFileSync(resolve(import.meta.dirname, 'src/app/screens.ts'), 'utf8')
    const paths = [...source.matchAll(/\bpath: '(\/[^']*)'/g)].map(([, path]) => path)
    this.emitFile({ type: 'asset', fileName: 'screens.json', source: JSON.stringify(paths) })
  },
}

/**
 * Tells the worker which files make up this page, and gives the whole a name that changes with any of them. The worker itself is one file without a hash: a browser
 * knows it by its address.
 */
const workerFiles: Plugin = {
  name: 'worker-files',
  enforce: 'post',
  generateBundle(_, bundle) {
    const worker = bundle['service-worker.js']
    if (worker?.type !== 'chunk') return
    if (worker.imports.length > 0) this.error('the service worker must be one file')
    const folder = resolve(import.meta.dirname, 'public')
    const given = readdirSync(folder).map((name) => ({ path: `/${name}`, content: readFileSync(resolve(folder, name)) }))
    const built = Object.values(bundle)
      .filter((file) => file !== worker && file.fileName !== 'screens.json' && !file.fileName.endsWith('.map'))
      .map((file) => ({
        path: file.fileName === 'index.html' ? '/' : `/${file.fileName}`,
        content: file.type === 'chunk' ? file.code : file.source,
      }))
    const all = [...given, ...built].sort((one, other) => (one.path < other.path ? -1 : 1))
    const hash = createHash('sha256')
    for (const { path, content } of all) hash.update(path).update(content)
    const build = { version: hash.digest('hex').slice(0, 16), files: all.map(({ path }) => path) }
    worker.code = `const pageBuild=${JSON.stringify(build)};${worker.code}`
  },
}

export default defineConfig({
  root: import.meta.dirname,
  // Every text of the page goes through one function, which makes visible what a reader could not see.
  plugins: [react({ jsxImportSource: 'drawn' }), screenPaths, workerFiles],
  resolve: {
    alias: ['jsx-runtime', 'jsx-dev-runtime'].map((name) => ({
      find: `drawn/${name}`,
      replacement: resolve(import.meta.dirname, `src/drawn/${name}.ts`),
    })),
  },
  build: {
    outDir: resolve(import.meta.dirname, '../dist/page'),
    emptyOutDir: true,
    target: 'es2023',
    // The policy of the page allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rollupOptions: {
      input: {
        index: resolve(import.meta.dirname, 'index.html'),
        'service-worker': resolve(import.meta.dirname, 'src/worker/service-worker.ts'),
      },
      output: {
        entryFileNames: ({ name }) => (name === 'service-worker' ? '[name].js' : 'assets/[name]-[hash].js'),
      },
    },
  },
  // While the page is worked on: `npx vite web`, with a daemon beside it.
  server: { port: 7296, proxy: { '/api': 'http://127.0.0.1:7295', '/sign-in': 'http://127.0.0.1:7295' } },
})
