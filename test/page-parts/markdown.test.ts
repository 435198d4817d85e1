import { describe, expect, it } from 'vitest'
import { tokensOf } from '../../web/src/parts/markdown-tokens.ts'
import { safeAddress } from '../../web/src/parts/safe-address.ts'

const own = 'http://127.0.0.1:7295'

describe('an address in what an agent wrote', () => {
  it.each(['https://example.org/a?b=c#d', 'http://example.org/', 'mailto:a@example.org'])(
    'leads to the web or to mail: %s',
    (href) => {
      expect(safeAddress(href, own)).toBe(href)
    },
  )

  it.each([
    'javascript:alert(1)',
    ' \u0001java\nscript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:http://127.0.0.1:7295/x',
    'intent://x',
    '/api/v1/tasks',
    '//example.org/x',
    '#here',
    '',
    'http://',
  ])('leads nowhere else: %j', (href) => {
    expect(safeAddress(href, own)).toBeUndefined()
  })

  it.each([
    'http://127.0.0.1:7295/open?code=x',
    'HTTP://127.0.0.1:7295/sign-in?code=x',
    'http://someone@127.0.0.1:7295/',
    'http://127.1:7295/open',
  ])('never leads to the daemon itself: %s', (href) => {
    expect(safeAddress(href, own)).toBeUndefined()
  })
})

describe('what an agent wrote', () => {
  it('is taken apart as markdown', () => {
    expect(tokensOf('# Head\n\n- one\n- two')?.map(({ type }) => type)).toEqual(['heading', 'space', 'list'])
    expect(tokensOf(`${'-'.repeat(100)}\n`)?.map(({ type }) => type)).toEqual(['hr'])
  })

  it.each([
    ['quotes within quotes', '>'.repeat(4_000)],
    ['quotes with room between', 'first\n\n  > > '.padEnd(3_000, '> ')],
    ['lists within lists', '- '.repeat(2_000)],
    ['numbers within numbers', '1. '.repeat(2_000)],
    ['both within each other', '- > '.repeat(2_000)],
    ['more than can be read quickly', 'a '.repeat(200_000)],
  ])('is shown as it is where reading it would take the page down: %s', (_, text) => {
    expect(tokensOf(text)).toBeUndefined()
  })
})
