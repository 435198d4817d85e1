import { expect, test } from 'vitest'
import { showPaths } from './shown-paths.ts'

const shown = showPaths([
  { source: '/srv/shop/data', path: '/data', alias: '/mnt/shop' },
  { source: '/srv/deep', path: '/data/deep' },
  { source: '/same', path: '/same' },
])!

test.for([
  ['see /data/a.txt.', 'see /srv/shop/data/a.txt.'],
  ['/data', '/srv/shop/data'],
  ['in /mnt/shop, and "/mnt/shop/b c"', 'in /srv/shop/data, and "/srv/shop/data/b c"'],
  ['/data/deep/x and /data/deeper', '/srv/deep/x and /srv/shop/data/deeper'],
  ['(/data:12) `cd /data&&ls`', '(/srv/shop/data:12) `cd /srv/shop/data&&ls`'],
  [
    '/var/data /database /data.bak /data-2 ./data http://host/data ~/data',
    '/var/data /database /data.bak /data-2 ./data http://host/data ~/data',
  ],
  ['/same/x', '/same/x'],
])('%s is shown as %s', ([said, wanted]) => {
  expect(shown(said)).toBe(wanted)
})

test('texts inside anything are replaced, and nothing else', () => {
  const at = new Date(0)
  expect(shown({ input: { path: '/data/a', count: 3, list: ['/mnt/shop', null] }, at })).toEqual({
    input: { path: '/srv/shop/data/a', count: 3, list: ['/srv/shop/data', null] },
    at,
  })
})

test('where every mount is at its own path there is nothing to do', () => {
  expect(showPaths([{ source: '/a', path: '/a' }])).toBeUndefined()
})
