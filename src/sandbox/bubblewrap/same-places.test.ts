import { mkdirSync, renameSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWalledWorld, starters, type WalledWorld } from '../../../test/contracts/walled-world.ts'
import { inPlace, sandboxPath } from '../../domain/base/path.ts'
import { markOf } from '../port.ts'

describe.each(starters)('walls that %s built', (starter) => {
  let world: WalledWorld
  beforeAll(() => {
    world = createWalledWorld(starter)
  })
  afterAll(() => world.remove())
  const marked = (path: string) => ({ ...inPlace(path), mark: markOf(statSync(path)) })

  test('stand around the workspace and the mounts that were looked at', async () => {
    const beside = world.place('beside')
    const { out } = await world.run('echo in; touch made', {
      workspace: marked(world.workspace),
      mounts: [{ ...marked(beside), mode: 'ro' }],
    })
    expect(out).toBe('in\n')
  })

  test('do not stand, and nothing starts, where one of them was exchanged for a link meanwhile', async () => {
    const [wanted, secret] = [world.place('wanted'), world.place('secret')]
    world.file('secret/key', 'canary')
    const looked = marked(wanted)
    renameSync(wanted, join(world.folder, 'moved'))
    symlinkSync(secret, wanted)
    const script = `cat ${wanted}/key key; echo started`
    for (const changes of [{ workspace: looked }, { mounts: [{ ...looked, mode: 'ro' as const }] }]) {
      const { out, err, code } = await world.run(script, changes)
      expect([out, code]).not.toEqual([expect.stringContaining('started'), 0])
      expect(out).not.toContain('canary')
      expect(`${out}${err}`).toContain('was exchanged for something else')
    }
  })

  test('do not stand, and nothing starts, where what is shown instead was exchanged for a link meanwhile', async () => {
    const [lent, over] = [world.place('lent'), world.place('project/over')]
    world.file('other/key', 'canary')
    const looked = marked(lent)
    renameSync(lent, join(world.folder, 'returned'))
    symlinkSync(join(world.folder, 'other'), lent)
    const mask = { kind: 'instead' as const, path: sandboxPath(over), source: looked.source, mark: looked.mark }
    const { out, err } = await world.run('cat over/key; echo started', { masks: [mask] })
    expect(out).not.toMatch(/started|canary/)
    expect(`${out}${err}`).toContain('was exchanged for something else')
  })

  test('do not stand where another folder took its place', async () => {
    const other = world.place('other')
    const looked = marked(other)
    renameSync(other, join(world.folder, 'away'))
    mkdirSync(other)
    const { out, err } = await world.run('echo started', { mounts: [{ ...looked, mode: 'ro' }] })
    expect(out).not.toContain('started')
    expect(`${out}${err}`).toContain('was exchanged for something else')
  })
})
