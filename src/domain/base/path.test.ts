import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  hostPath,
  inPlace,
  isBelow,
  isInside,
  isPlainBelow,
  liesAt,
  parentOf,
  pathIn,
  relativeTo,
  sameInside,
  sandboxPath,
  seenAt,
  stepsOf,
  workspacePath,
  workspacePathIfAny,
} from './path.ts'

const name = fc.string({ minLength: 1, maxLength: 6 }).filter((text) => text !== '.' && text !== '..' && !text.includes('/'))
const names = fc.array(name, { maxLength: 5 })
const host = names.map((all) => hostPath(`/${all.join('/')}`))
const below = names.map((all) => workspacePath(all.join('/') || '.'))

describe('a path that is taken from a text', () => {
  it.each([
    ['/', '/'],
    ['/a/b', '/a/b'],
    ['/a/b/', '/a/b'],
    ['//a///b', '/a/b'],
    ['/a/./b', '/a/b'],
    ['/a/x/../b', '/a/b'],
    ['/../a', '/a'],
    ['/a/..b/...', '/a/..b/...'],
    ['/a/..', '/'],
  ])('has one form: %s', (text, path) => {
    expect([hostPath(text), sandboxPath(text)]).toEqual([path, path])
  })

  it.each(['', 'a', './a', '../a', '~/a'])('is refused where it is not absolute: %j', (text) => {
    expect(() => hostPath(text)).toThrow(/is not an absolute path/)
    expect(() => sandboxPath(text)).toThrow(/is not an absolute path/)
  })

  it.each([
    ['.', '.'],
    ['./', '.'],
    ['a/', 'a'],
    ['./a//b', 'a/b'],
    ['a/../b', 'b'],
    ['a/..', '.'],
    ['..a/b', '..a/b'],
  ])('is relative to a workspace: %s', (text, path) => {
    expect(workspacePath(text)).toBe(path)
  })

  it.each(['', '/a', '..', '../a', 'a/../..', 'a/../../a'])('is refused where it leads out of the workspace: %j', (text) => {
    expect(workspacePathIfAny(text)).toBeUndefined()
    expect(() => workspacePath(text)).toThrow(/is not a path below a workspace/)
  })

  it('stays as it is when it is taken again', () => {
    fc.assert(fc.property(host, below, (path, part) => hostPath(path) === path && workspacePath(part) === part))
  })
})

describe('isInside', () => {
  it.each([
    ['/a', '/a', true],
    ['/a', '/a/b', true],
    ['/a', '/ab', false],
    ['/a', '/', false],
    ['/a/b', '/a', false],
    ['/', '/', true],
    ['/', '/a', true],
    ['/a/', '/a/b/', true],
    ['/a', '/a/../b', false],
    ['/a', '/a/..b', true],
    ['/a', '/b/../a/c', true],
  ])('%s holds %s: %s', (folder, path, expected) => {
    expect(isInside(hostPath(folder), hostPath(path))).toBe(expected)
    expect(isInside(sandboxPath(folder), sandboxPath(path))).toBe(expected)
    expect(isBelow(hostPath(folder), hostPath(path))).toBe(expected && hostPath(folder) !== hostPath(path))
  })

  it.each([
    ['.', '.', true],
    ['.', 'a', true],
    ['a', '.', false],
    ['a', 'a/b', true],
    ['a', 'ab', false],
  ])('%s of a workspace holds %s: %s', (folder, path, expected) => {
    expect(isInside(workspacePath(folder), workspacePath(path))).toBe(expected)
    expect(isBelow(workspacePath(folder), workspacePath(path))).toBe(expected && folder !== path)
  })

  it('holds for what is put below a folder, and never for a name that only begins alike', () => {
    fc.assert(
      fc.property(host, below, name, (folder, part, more) => {
        const path = pathIn(folder, part)
        expect(isInside(folder, path)).toBe(true)
        expect(isBelow(folder, path)).toBe(part !== '.')
        if (folder !== '/') expect(isInside(folder, hostPath(`${folder}${more}`))).toBe(false)
      }),
    )
  })

  it('is the same as to compare the names one by one', () => {
    fc.assert(
      fc.property(host, host, (folder, path) => {
        const [above, own] = [folder, path].map((one) => one.split('/').filter((part) => part !== '')) as [string[], string[]]
        expect(isInside(folder, path)).toBe(above.every((part, at) => own[at] === part))
      }),
    )
  })

  it('takes no paths of two worlds, and no text that nobody has looked at', () => {
    const [outside, inside, part] = [hostPath('/a'), sandboxPath('/a'), workspacePath('a')]
    // @ts-expect-error Where the agent sees a thing says nothing of where it lies.
    isInside(outside, inside)
    // @ts-expect-error
    isInside(inside, outside)
    // @ts-expect-error
    isBelow(part, outside)
    // @ts-expect-error
    relativeTo(outside, inside)
    // @ts-expect-error
    isInside('/a', outside)
    // @ts-expect-error
    isInside(outside, '/a')
    // @ts-expect-error A path below a workspace is put into a folder, never the other way round.
    pathIn(part, part)
    // @ts-expect-error
    seenAt(inPlace('/a'), inside)
    // @ts-expect-error
    liesAt(inPlace('/a'), outside)
    expect(isInside(outside, hostPath(inside))).toBe(true)
  })
})

describe('a path from one world in another', () => {
  it('goes there and back', () => {
    fc.assert(
      fc.property(host, host, below, (source, path, part) => {
        const shown = { source, path: sandboxPath(path) }
        const seen = seenAt(shown, pathIn(source, part))
        expect(seen).toBe(pathIn(shown.path, part))
        expect(liesAt(shown, seen!)).toBe(pathIn(source, part))
        expect(relativeTo(source, pathIn(source, part))).toBe(part)
      }),
    )
  })

  it('is nowhere where the folder does not show it', () => {
    const shown = { source: hostPath('/data/copy'), path: sandboxPath('/work') }
    expect(seenAt(shown, hostPath('/data/copy-2/a'))).toBeUndefined()
    expect(liesAt(shown, sandboxPath('/worker'))).toBeUndefined()
    expect(relativeTo(hostPath('/a'), hostPath('/'))).toBeUndefined()
  })

  it('is the same text for a folder that is shown at its own path', () => {
    const home = hostPath('/home/one')
    expect(inPlace(home)).toEqual({ source: home, path: sameInside(home) })
  })
})

it('the folder above a path holds it, up to the root', () => {
  fc.assert(
    fc.property(host, (path) => {
      expect(isInside(parentOf(path), path)).toBe(true)
      expect(parentOf(path) === path).toBe(path === '/')
    }),
  )
  expect(parentOf(hostPath('/a'))).toBe('/')
})

it('the steps to a path are its names, and none to the top', () => {
  expect(stepsOf(workspacePath('a/b'))).toEqual(['a', 'b'])
  expect(stepsOf(workspacePath('.'))).toEqual([])
})

it('a text is plain that names something below a folder as it is', () => {
  expect(['a', 'a/b', '..a', '.git/config'].map(isPlainBelow)).toEqual([true, true, true, true])
  expect(['', '/a', 'a/', 'a//b', '.', 'a/./b', '..', 'a/../b', 'a\0b'].filter(isPlainBelow)).toEqual([])
})
