import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { PawlError } from '../../domain/error.ts'

export interface ProgramFiles {
  /** What Node is started with. */
  readonly main: string
  readonly files: Readonly<Record<string, string>>
}

let found: ProgramFiles | undefined

/**
 * The client's program as files: one in an installed package, where it is bundled (`agents/a2a/program.js` below a folder above this module), and from a checkout its sources as
 * they lie there, with the one file of the library that they use.
 */
export function programFiles(): ProgramFiles {
  found ??= bundled() ?? sources()
  return found
}

// Without it Node would have to guess what kind of modules they are, and says so.
const manifest = { 'package.json': '{"type":"module"}' }

function bundled(): ProgramFiles | undefined {
  const file = above('agents/a2a/program.js')
  return file && { main: 'program.js', files: { ...manifest, 'program.js': readFileSync(file, 'utf8') } }
}

const folder = 'agents/a2a/program/'
const address = 'egress/address-class.ts'

function sources(): ProgramFiles {
  const own = above(folder)
  const shared = above(address)
  if (!own || !shared)
    throw new PawlError(
      'unavailable',
      'The program of A2A agents (agents/a2a/program.js) is missing from this installation of Pawl.',
    )
  const names = readdirSync(own).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  const files = names.map((name) => [`${folder}${name}`, readFileSync(new URL(name, own), 'utf8')] as const)
  return {
    main: `${folder}main.ts`,
    files: { ...manifest, ...Object.fromEntries(files), [address]: readFileSync(shared, 'utf8'), ...library() },
  }
}

/** Cards are judged outside, so what the library needs to check signatures with stays there. */
const library = () => ({
  'node_modules/@a2a-js/sdk/package.json': '{"type":"module","exports":{"./client":"./client.js"}}',
  'node_modules/@a2a-js/sdk/client.js': readFileSync(new URL(import.meta.resolve('@a2a-js/sdk/client')), 'utf8'),
  'node_modules/jose/package.json': '{"type":"module","exports":"./index.js"}',
  'node_modules/jose/index.js': 'export {}\n',
})

function above(path: string): URL | undefined {
  return ['./', '../', '../../', '../../../'].map((up) => new URL(`${up}${path}`, import.meta.url)).find((url) => existsSync(url))
}
