import { describe, expect, it } from 'vitest'
import { handMadeInsideTests } from './inside.ts'

const found = (line: string) => handMadeInsideTests(new Map([['engine/some.ts', `const before = 1\n  ${line}\n`]]))

describe('a test by hand of whether a path is inside a folder', () => {
  it.each([
    'if (path.startsWith(`${folder}/`)) return',
    'const isIn = path === folder || path.startsWith(`${folder}/`)',
    'paths.filter((path) => path?.startsWith(`${place.workspace.source}/`))',
    'if (`${one}/`.startsWith(`${folder}/`)) return',
    "path.startsWith(folder + '/')",
    'path.startsWith(root + path.sep)',
    'path.startsWith(`${folder}${sep}`)',
    'path.startsWith(folder === sep ? sep : `${folder}${sep}`)',
    "path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)",
    'real.startsWith(root.endsWith(sep) ? root : root + sep)',
    "const isOut = seen.startsWith('..')",
    "return below.startsWith('../')",
    "relative(folder, path).split('/')[0] !== '..'",
    'if (path.indexOf(`${folder}/`) === 0) return',
  ])('is found: %s', (line) => {
    expect(found(line)).toEqual([`engine/some.ts:2 ${line}`])
  })

  it.each([
    'if (isInside(folder, path)) return',
    "if (path.startsWith('/')) return",
    "if (name.startsWith('.')) return",
    "if (name.startsWith('refs/heads/')) return",
    'const below = relative(folder, path)',
    'const file = `${folder}/${name}`',
    'if (name.startsWith(`${task}.`)) return',
  ])('is not: %s', (line) => {
    expect(found(line)).toEqual([])
  })

  it('may stand in a test', () => {
    expect(handMadeInsideTests(new Map([['engine/some.test.ts', 'path.startsWith(`${folder}/`)']]))).toEqual([])
  })
})
