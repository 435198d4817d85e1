import { readFileSync } from 'node:fs'
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

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), screenPaths],
  build: {
    outDir: resolve(import.meta.dirname, '../dist/page'),
    emptyOutDir: true,
    target: 'es2023',
    // The policy of the page allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // While the page is worked on: `npx vite web`, with a daemon beside it.
  server: { port: 7296, proxy: { '/api': 'http://127.0.0.1:7295', '/sign-in': 'http://127.0.0.1:7295' } },
})
