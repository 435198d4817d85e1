import { expect, test } from 'vitest'
import { findRepairs } from './repair.ts'

test('only repairs that Pawl knows are ever run, whatever a fix says', async () => {
  const fixes = [
    'rm -rf /',
    'apt-get install nyancat',
    'apt-get install bubblewrap-evil; reboot',
    'chmod 700 /etc',
    'free some space on that disk',
  ]
  const found = await findRepairs(
    fixes.map((fix) => ({ name: 'x', fix })),
    '/home/me/.pawl',
  )
  for (const { commands } of found)
    for (const command of commands)
      expect(command.join(' ')).toMatch(/^\/usr\/bin\/apt-get (update|install -y --no-install-recommends bubblewrap)$/)
})

test('a home that others can read is closed', async () => {
  expect(await findRepairs([{ name: 'home', fix: 'chmod 700 /home/me/.pawl' }], '/home/me/.pawl')).toEqual([
    { name: 'home', commands: [['/bin/chmod', '700', '/home/me/.pawl']], shown: 'chmod 700 /home/me/.pawl' },
  ])
})
