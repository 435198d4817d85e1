import { gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { scan } from './scan.ts'

const canaries = [{ name: 'KEY', value: 'naïve "quoted" key, long enough to be broken into several lines of base64, and $^.*' }]
const { value } = canaries[0]!
const base64 = (before: string) => Buffer.from(`${before}${value} and more`).toString('base64')

it.each([
  ['raw', value],
  ['json', JSON.stringify({ value })],
  ['json', JSON.stringify(JSON.stringify({ value }))],
  ['percent', encodeURIComponent(value)],
  ['hex', Buffer.from(value).toString('hex')],
  ['hex', Buffer.from(value).toString('hex').toUpperCase()],
  ['base64', base64('')],
  ['base64', base64('x')],
  ['base64', base64('xy')],
  ['base64', base64('xy').replace(/.{76}/g, '$&\n')],
  ['base64', JSON.stringify(base64('xy').replace(/.{64}/g, '$&\n'))],
  ['base64url', Buffer.from(`xy${value}`).toString('base64url')],
  ['utf-16', Buffer.from(value, 'utf16le')],
  ['reversed', [...value].reverse().join('')],
  ['raw', gzipSync(`in a stream: ${value}`)],
  ['raw', Buffer.concat([Buffer.from('before'), zstdCompressSync(`in a stream: ${value}`)])],
])('the scanner finds a canary in the form %s', (form, content) => {
  expect(scan('here', content, canaries)).toContain(`KEY (${form}) in here`)
})

it('the scanner finds nothing where there is nothing', () => {
  expect(scan('here', value.slice(1, -1), canaries)).toEqual([])
})
