/** Builds the package: the program and the library, the page and the types beside them. */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { writeProgram } from './program.ts'
import { buildPage } from './web-page.ts'

const root = resolve(import.meta.dirname, '..')
const dist = resolve(root, 'dist')
rmSync(dist, { recursive: true, force: true })
await buildPage()
await writeProgram(dist)

const types = ['--noEmit', 'false', '--emitDeclarationOnly', '--declaration', '--outDir', 'dist/types', '--rootDir', 'src']
execFileSync(resolve(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.build.json', ...types], { cwd: root, stdio: 'inherit' })
