import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { messageOf, PawlError } from '../../domain/error.ts'
import type { AgentHealth, Command } from '../port.ts'

/** A program of ours that stands for an agent inside the walls. */
export interface OwnProgram {
  /** It travels as files of the session home, as inside the walls Pawl's own folder may not be readable. What is asked comes by stdin. */
  command(home: string, settings: object): Command
  /** What a probe says where it cannot be started. */
  missing(): AgentHealth | undefined
}

/** What it uses beside the files of its own folder: other sources of ours, and libraries as files of `node_modules`. */
interface Uses {
  readonly sources: readonly string[]
  readonly libraries?: () => Record<string, string>
}

/**
 * The program of an adapter: one file in an installed package, where it is bundled as `agents/NAME/program.js`, and from a checkout the sources in `agents/NAME/program`, whose
 * types Node leaves out by itself.
 */
export function ownProgram(name: string, uses: Uses): OwnProgram {
  let found: ProgramFiles | undefined
  const read = () => {
    found ??= bundled(name) ?? sources(name, uses)
    return found
  }
  const folder = `.pawl-${name}`
  const settingsFile = `${folder}/settings.json`
  return {
    command: (home, settings) => {
      const { main, files } = read()
      const inHome = Object.entries(files).map(([path, text]) => [`${folder}/program/${path}`, text])
      return {
        file: process.execPath,
        args: [posix.join(home, folder, 'program', main), posix.join(home, settingsFile)],
        env: {},
        files: { ...Object.fromEntries(inHome), [settingsFile]: JSON.stringify(settings) },
      }
    },
    missing: () => {
      try {
        read()
        return undefined
      } catch (thrown) {
        return { installed: false, healthy: false, detail: messageOf(thrown), fix: 'Install Pawl again.' }
      }
    },
  }
}

interface ProgramFiles {
  /** What Node is started with. */
  readonly main: string
  readonly files: Readonly<Record<string, string>>
}

// Without it Node would have to guess what kind of modules they are, and says so.
const manifest = { 'package.json': '{"type":"module"}' }

function bundled(name: string): ProgramFiles | undefined {
  const path = `agents/${name}/program.js`
  const root = rootWith(path)
  return root && { main: path, files: { ...manifest, ...textsOf(root, [path]) } }
}

function sources(name: string, uses: Uses): ProgramFiles {
  const folder = `agents/${name}/program`
  const main = `${folder}/main.ts`
  const root = rootWith(main)
  if (!root)
    throw new PawlError(
      'unavailable',
      `The program of the agent ${name} (${folder}.js) is missing from this installation of Pawl.`,
    )
  const own = readdirSync(new URL(folder, root)).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  const paths = [...own.map((file) => `${folder}/${file}`), ...uses.sources]
  return { main, files: { ...manifest, ...textsOf(root, paths), ...uses.libraries?.() } }
}

const textsOf = (root: URL, paths: readonly string[]) =>
  Object.fromEntries(paths.map((path) => [path, readFileSync(new URL(path, root), 'utf8')]))

/** The folder above this module, be it a source or part of a bundle, that has such a file. */
const rootWith = (path: string) =>
  ['./', '../../'].map((up) => new URL(up, import.meta.url)).find((root) => existsSync(new URL(path, root)))
