import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { PawlError } from '../../domain/error.ts'

export interface ProgramFiles {
  /** What Node is started with. */
  readonly main: string
  readonly files: Readonly<Record<string, string>>
}

let found: ProgramFiles | undefined

/**
 * The loop's program as files: one in an installed package, where it is bundled (`agents/ollama/program.js` below a folder above this module), and from a checkout its sources,
 * whose types Node leaves out by itself.
 */
export function programFiles(): ProgramFiles {
  found ??= bundled() ?? sources()
  return found
}

// Without it Node would have to guess what kind of modules they are, and says so.
const manifest = { 'package.json': '{"type":"module"}' }

function bundled(): ProgramFiles | undefined {
  const file = above('agents/ollama/program.js')
  return file && { main: 'program.js', files: { ...manifest, 'program.js': readFileSync(file, 'utf8') } }
}

function sources(): ProgramFiles {
  const folder = above('agents/ollama/program/')
  if (!folder)
    throw new PawlError(
      'unavailable',
      'The program of the Ollama agent (agents/ollama/program.js) is missing from this installation of Pawl.',
    )
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  const files = names.map((name) => [name, readFileSync(new URL(name, folder), 'utf8')] as const)
  return { main: 'main.ts', files: { ...manifest, ...Object.fromEntries(files) } }
}

function above(path: string): URL | undefined {
  return ['./', '../', '../../', '../../../'].map((up) => new URL(`${up}${path}`, import.meta.url)).find((url) => existsSync(url))
}
