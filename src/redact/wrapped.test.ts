import { describe, expect, it } from 'vitest'
import { createRedactor } from './redactor.ts'

const secret = 'a secret that is long enough to be broken into several lines when it is encoded, as most keys are'
const redactor = createRedactor()
redactor.add('KEY', secret)
const lines = (text: string, width: number, lineBreak: string) => text.match(new RegExp(`.{1,${width}}`, 'g'))!.join(lineBreak)
const encoded = Buffer.from(`export KEY='${secret}' # here\n`).toString('base64')

describe('what is broken into lines', () => {
  it.each([
    ['as base64 does it', lines(encoded, 76, '\n')],
    ['with carriage returns', lines(encoded, 64, '\r\n')],
    ['indented', lines(encoded, 40, '\n\t  ')],
    ['in JSON', JSON.stringify(lines(encoded, 76, '\r\n'))],
    ['in JSON inside a string of JSON', JSON.stringify(JSON.stringify(lines(encoded, 76, '\n')))],
    ['in short lines', lines(encoded, 16, '\n')],
  ])('is found: %s, as a whole and cut anywhere', (_, text) => {
    const clean = redactor.text(text)
    expect(clean.length).toBeLessThan(70)
    expect(clean).toContain('[redacted:KEY]')
    const bytes = Buffer.from(`${text} `)
    for (let cut = 1; cut < bytes.length; cut++) {
      const stream = redactor.stream()
      const parts = [...stream.write(bytes.subarray(0, cut)), ...stream.write(bytes.subarray(cut)), stream.end()]
      expect(Buffer.concat(parts).toString()).toBe(`${clean} `)
    }
    const stream = redactor.stream()
    const signs = [...bytes].flatMap((byte) => stream.write(Buffer.from([byte])))
    expect(Buffer.concat([...signs, stream.end()]).toString()).toBe(`${clean} `)
  })

  it('is found line by line too, where it was encoded alone', () => {
    for (const width of [76, 64])
      for (const line of lines(Buffer.from(`${secret}\n`).toString('base64'), width, '\n').split('\n'))
        expect(redactor.text(line).replace('[redacted:KEY]', '').length).toBeLessThan(16)
  })

  it('stays as it is if it is something else', () => {
    const other = lines(Buffer.from('nothing that anybody must not see '.repeat(50)).toString('base64'), 76, '\n')
    expect(redactor.text(other)).toBe(other)
    const stream = redactor.stream()
    const bytes = Buffer.from(`${other}\n`)
    const parts = [...stream.write(bytes.subarray(0, 1_000)), ...stream.write(bytes.subarray(1_000)), stream.end()]
    expect(Buffer.concat(parts).toString()).toBe(`${other}\n`)
  })
})

describe('what is secret inside a secret', () => {
  const inner = createRedactor()
  inner.add('ACCOUNT', JSON.stringify({ type: 'account', user: { private_key: 'key-inside-of-json', name: 'not-to-be-hidden' } }))
  inner.add('DATABASE', 'postgres://pawl:pass%20word-1@db.example/pawl')
  it('is hidden without the rest', () => {
    expect(inner.text('key-inside-of-json, not-to-be-hidden, pass word-1, pass%20word-1')).toBe(
      '[redacted:ACCOUNT], not-to-be-hidden, [redacted:DATABASE], [redacted:DATABASE]',
    )
  })
})

it('a secret of 64 KiB is hidden in every form, and so is part of it', () => {
  const random = (index: number) => ((index + 1) * 2_654_435_761) >>> 0
  const large = Array.from({ length: 16_384 }, (_, index) => random(index).toString(36).slice(-4)).join('')
  const redactor = createRedactor()
  redactor.add('LARGE', large)
  for (const form of [
    large,
    JSON.stringify(large),
    Buffer.from(large).toString('hex'),
    Buffer.from(`x${large}`).toString('base64'),
  ])
    expect(redactor.text(form).replaceAll('[redacted:LARGE]', '').length).toBeLessThan(100)
  expect(redactor.text(Buffer.from(large.slice(4_096, 8_192)).toString('base64')).length).toBeLessThan(30)
})
