import { describe, expect, it } from 'vitest'
import { edited, membersOf } from './json-members.ts'

const valuesOf = (text: string, ...names: string[]) => {
  const bytes = Buffer.from(text)
  return membersOf(bytes, new Set(names)).map(({ key, start, end }) => [key, bytes.toString('utf8', start, end)])
}

describe('the members of a JSON text', () => {
  it('are found wherever they stand, at the top only', () => {
    expect(valuesOf('{"a":{"model":"no"},"b":["model",{"model":"no"}],"model":"yes"}', 'model')).toEqual([['model', '"yes"']])
    expect(valuesOf(' \n{ "model" \t: "yes" , "n" : 12 \n}\n', 'model', 'n')).toEqual([
      ['model', '"yes"'],
      ['n', '12'],
    ])
  })

  it('are found with quotes, backslashes and other scripts before them', () => {
    expect(valuesOf(String.raw`{"a":"\"model\":\"no\"","b":"\\","c\"":"}","d":"日本\\\"","model":"yes"}`, 'model')).toEqual([
      ['model', '"yes"'],
    ])
  })

  it('are found behind strings that are full of quotes', () => {
    for (const count of [7, 8, 9, 10, 500]) {
      const text = JSON.stringify({ a: `${'"'.repeat(count)}\\`, b: `{"model":${'\\"'.repeat(count)}`, model: 'yes' })
      expect(valuesOf(text, 'model')).toEqual([['model', '"yes"']])
    }
  })

  it('are all found if a name is there twice, or written with escapes', () => {
    expect(valuesOf(String.raw`{"model":"one","mod\u0065l":"two","model":"three"}`, 'model').map(([, value]) => value)).toEqual([
      '"one"',
      '"two"',
      '"three"',
    ])
  })

  it('are found in capitals, and in signs that are taken for the same letters', () => {
    expect(valuesOf('{"MODEL":1,"max_to\u212aens":2,"Mode":3}', 'model', 'max_tokens').map(([, value]) => value)).toEqual([
      '1',
      '2',
    ])
  })

  it('may be of any kind', () => {
    const text = '{"a":null,"b":true ,"c":-1.5e+9,"d":[1,[2,"]"]] ,"e":{"x":{}},"f":""}'
    expect(valuesOf(text, 'a', 'b', 'c', 'd', 'e', 'f').map(([, value]) => JSON.parse(value!))).toEqual(
      Object.values(JSON.parse(text)),
    )
  })

  it('are none in an empty object', () => {
    expect(valuesOf('{ }', 'model')).toEqual([])
  })
})

it('edits touch their places only', () => {
  const bytes = Buffer.from('{"model" : "é", "x":1.0}')
  const [model] = membersOf(bytes, new Set(['model']))
  expect(edited(bytes, [{ start: model!.start, end: model!.end, text: '"日本"' }]).toString()).toBe('{"model" : "日本", "x":1.0}')
  expect(edited(bytes, [])).toBe(bytes)
})
