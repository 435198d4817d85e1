import { describe, expect, it } from 'vitest'
import { type Import, importsIn, layerOffences, partOffences, testHelpersInProduct, unseenImports } from './imports.ts'

const importing = (path: string): [string, string][] => [
  ['a value', `import { x } from '${path}'`],
  ['a value among types', `import { type Y, x } from '${path}'`],
  ['a default', `import x from '${path}'`],
  ['everything', `import * as x from '${path}'`],
  ['names on lines of their own', `import {\n  x,\n  y,\n} from '${path}'`],
  ['a side effect', `import '${path}'`],
  ['a type', `import type { X } from '${path}'`],
  ['types in braces', `import { type X, type Y } from '${path}'`],
  ['a type where it is used', `const x: import('${path}').X = y`],
  ['the type of a module', `let x: typeof import('${path}')`],
  ['a lazy import', `const { x } = await import('${path}')`],
  ['a lazy import in a wrapper', `const load = lazy(() => import('${path}'))`],
  ['a lazy import over lines', `const x = await import(\n  '${path}'\n)`],
  ['a file by its address', `const x = new URL('${path}', import.meta.url)`],
  ['an export from', `export { x } from '${path}'`],
  ['an export of everything', `export * from '${path}'`],
  ['an export of a type', `export type { X } from '${path}'`],
]

describe('what a source text imports', () => {
  it.each(importing('../store/tasks.ts'))('is seen: %s', (_, text) => {
    expect(importsIn(text).map(({ path }) => path)).toEqual(['../store/tasks.ts'])
  })

  it('is told by kind', () => {
    const kindOf = (text: string): Import['kind'] => importsIn(text)[0]!.kind
    expect(Object.fromEntries(importing('./x.ts').map(([name, text]) => [name, kindOf(text)]))).toEqual({
      'a value': 'value',
      'a value among types': 'value',
      'a default': 'value',
      everything: 'value',
      'names on lines of their own': 'value',
      'a side effect': 'value',
      'a type': 'type',
      'types in braces': 'type',
      'a type where it is used': 'type',
      'the type of a module': 'type',
      'a lazy import': 'lazy',
      'a lazy import in a wrapper': 'lazy',
      'a lazy import over lines': 'lazy',
      'a file by its address': 'lazy',
      'an export from': 'value',
      'an export of everything': 'value',
      'an export of a type': 'type',
    })
  })

  it('is neither a package nor a comment', () => {
    expect(
      importsIn("import { z } from 'zod'\nimport 'node:fs'\n// import { x } from './x.ts'\n/** As import('./x.ts') does. */"),
    ).toEqual([])
  })

  it('is refused where no rule could see it', () => {
    const sources = new Map([
      ['a/hidden.ts', 'const x = await import(name)'],
      ['a/built.ts', 'const x = await import(`./${name}.ts`)'],
      ['a/plain.ts', "const x = await import('./x.ts')"],
    ])
    expect(unseenImports(sources)).toEqual(['a/hidden.ts', 'a/built.ts'])
  })
})

describe('the table of parts', () => {
  const allowed = { surfaces: ['engine/runtime'], store: [], engine: ['store'] }

  it.each(importing('../../../store/tasks.ts'))('holds for a fixture that the product loads: %s', (_, text) => {
    const offences = partOffences(new Map([['surfaces/mcp/fixture/fixture.ts', text]]), allowed, [])
    expect(offences).toHaveLength(1)
    expect(offences[0]).toMatch(/^surfaces\/mcp\/fixture\/fixture\.ts imports store\/tasks\.ts/)
  })

  it('lets pass what its rows name, and nothing whose name only begins like it', () => {
    const sources = (text: string) => new Map([['surfaces/mcp/door.ts', text]])
    expect(partOffences(sources("import '../../engine/runtime.ts'"), allowed, [])).toEqual([])
    expect(partOffences(sources("import '../../engine/runtime-parts.ts'"), allowed, [])).toEqual([
      'surfaces/mcp/door.ts imports engine/runtime-parts.ts',
    ])
  })

  it('wants a row for each part, and for what lies outside of the sources', () => {
    expect(partOffences(new Map([['new/thing.ts', "import '../domain/id.ts'"]]), allowed, ['domain'])).toEqual([
      'new has no row in the table',
    ])
    expect(partOffences(new Map([['store/tasks.ts', "import '../../test/http-peer.ts'"]]), allowed, [])).toEqual([
      'store/tasks.ts imports ../test/http-peer.ts',
    ])
  })
})

describe('the order of rooms', () => {
  const layers = { house: ['cellar', 'hall.ts', ['east', 'west'], '.'] }
  const filled = (file: string, text: string) =>
    new Map([
      ['house/cellar/wine.ts', ''],
      ['house/hall.ts', "import './cellar/wine.ts'"],
      ['house/east/bed.ts', "import '../hall.ts'"],
      ['house/west/bed.ts', "import type { Wine } from '../cellar/wine.ts'"],
      ['house/roof.ts', "import './east/bed.ts'\nimport './tower.ts'"],
      ['house/tower.ts', "import './roof.ts'"],
      [file, text],
    ])

  it.each(importing('../hall.ts'))('lets no room import a later one: %s', (_, text) => {
    const offences = layerOffences(filled('house/cellar/wine.ts', text), layers)
    expect(offences).toHaveLength(1)
    expect(offences[0]).toMatch(/^house\/cellar\/wine\.ts imports house\/hall\.ts/)
  })

  it('keeps rooms that stand side by side ignorant of each other', () => {
    expect(layerOffences(filled('house/west/bed.ts', "import type { Bed } from '../east/bed.ts'"), layers)).toEqual([
      'house/west/bed.ts imports house/east/bed.ts (type)',
    ])
  })

  it('lets no room import the loose files above it, nor a test be an exception for what it helps', () => {
    const bed = "import '../roof.ts'"
    expect(layerOffences(filled('house/west/bed.ts', bed), layers)).toEqual(['house/west/bed.ts imports house/roof.ts'])
    expect(layerOffences(filled('house/west/bed.test.ts', bed), layers)).toEqual([])
  })

  it('wants a place for each room, and a room for each place', () => {
    expect(layerOffences(filled('house/attic/box.ts', ''), layers)).toEqual([
      'house/attic/box.ts has no place in the order of house',
    ])
    expect(layerOffences(new Map([['house/cellar/wine.ts', '']]), { house: ['cellar', 'east'] })).toEqual([
      'house/east is in the order but not there',
    ])
    expect(layerOffences(new Map([['house/loose.ts', '']]), { house: [] })).toEqual([
      'house/loose.ts has no place in the order of house',
    ])
  })
})

describe('helpers of tests', () => {
  it('are imported by no file of the product', () => {
    const sources = new Map([
      ['tools/serve.ts', "import { peer } from './testing.ts'"],
      ['tools/serve.test.ts', "import { peer } from './testing.ts'"],
      ['tools/lazy.ts', "await import('./serve.test.ts')"],
      ['tools/far.ts', "import type { Peer } from '../../test/http-peer.ts'"],
    ])
    expect(testHelpersInProduct(sources)).toEqual([
      'tools/serve.ts imports tools/testing.ts',
      'tools/lazy.ts imports tools/serve.test.ts (lazy)',
      'tools/far.ts imports ../test/http-peer.ts (type)',
    ])
  })
})
