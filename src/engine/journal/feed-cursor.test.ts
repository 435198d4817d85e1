import { describe, expect, it } from 'vitest'
import { parseCursor, writeCursor } from './feed-cursor.ts'

const cursorOf = (text: string) => Buffer.from(text).toString('base64url')

describe('where a reader of all tasks goes on', () => {
  it.each([
    { seen: '1:1:' },
    { seen: '740:740:' },
    { seen: '740:750:740,745' },
    { seen: '740:750:', within: { until: '745:760:745,747', task: 't_01hzy', seq: 12 } },
    { seen: `5:2000:${Array.from({ length: 1_000 }, (_, n) => n + 5).join(',')}` },
  ])('is read as it was written: $seen', (place) => {
    expect(parseCursor(writeCursor(place))).toEqual(place)
  })

  it.each([
    ['nothing', ''],
    ['a word', 'abc'],
    ['zero', '0:0:'],
    ['bounds the wrong way round', '9:8:'],
    ['one under way before the first', '5:9:4'],
    ['one under way at the end', '5:9:9'],
    ['two under way in the wrong order', '5:9:7,6'],
    ['the same one twice', '5:9:7,7'],
    ['a number that no database has', '1:99999999999999999999:'],
    ['more under way than a database can have', `5:9999:${Array.from({ length: 1_001 }, (_, n) => n + 5).join(',')}`],
    ['a place without a task', '5:9:/5:9:'],
    ['a place whose end is none', '5:9:/9:5:/t_a/1'],
    ['a task that is none', "5:9:/5:9:/t_a'--/1"],
    ['a number of an event that is none', '5:9:/5:9:/t_a/-1'],
    ['another line', '5:9:\n5:9:'],
  ])('is not read from %s', (_, text) => {
    expect(parseCursor(cursorOf(text))).toBeUndefined()
  })

  it('is refused at once, however long and nearly right it is', () => {
    const begun = performance.now()
    for (const text of [`5:9:${'1,'.repeat(100_000)}`, `${'1'.repeat(200_000)}:`, `5:9:/5:9:/t_${'a'.repeat(200_000)}/`])
      expect(parseCursor(cursorOf(text))).toBeUndefined()
    expect(performance.now() - begun).toBeLessThan(20_000)
  })
})
