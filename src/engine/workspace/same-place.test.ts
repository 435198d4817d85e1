import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { markOf } from '../../sandbox/port.ts'
import { leadsElsewhere, placeAt, shownAt } from './same-place.ts'

test('a folder is known again by what it is, and neither behind a link nor as one', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'pawl-place-')))
  onTestFinished(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'a/b'), { recursive: true })
  symlinkSync(join(root, 'a'), join(root, 'link'))
  symlinkSync(join(root, 'a/b'), join(root, 'last'))
  const at = (path: string) => placeAt(join(root, path))
  expect(await at('a/b')).toBe(markOf(statSync(join(root, 'a/b'))))
  expect(await Promise.all([at('link/b'), at('last'), at('gone')])).toEqual([undefined, undefined, undefined])
  expect(await leadsElsewhere(join(root, 'link/b'))).toBe(join(root, 'a/b'))
  expect(await leadsElsewhere(join(root, 'a/b'))).toBeUndefined()
  const shown = (path: string) => shownAt(join(root, path), join(root, 'last'), '/inside')
  expect(await shown('a/b')).toEqual({ source: join(root, 'a/b'), path: '/inside', mark: await at('a/b') })
  expect(await Promise.all([shown('link/b'), shown('gone')])).toEqual([undefined, undefined])
  // The home of Pawl may be a link of its user's.
  expect(await shown('last/workspaces')).toEqual({ source: join(root, 'last/workspaces'), path: '/inside' })
})
