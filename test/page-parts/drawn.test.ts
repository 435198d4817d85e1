import { createElement, type ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { drawn } from '../../web/src/drawn/drawn.ts'
import { jsx, jsxs } from '../../web/src/drawn/jsx-runtime.ts'
import { drawnFileName } from '../../web/src/drawn/text.ts'
import { unsaidTarget } from '../../web/src/parts/safe-address.ts'

const html = (node: unknown) => renderToStaticMarkup(node as ReactNode)
const inside = (text: string) => `<span>${text}</span>`
const mark = (code: string, shown = code.toUpperCase()) =>
  `<mark class="unseen" data-original="${code}">&lt;U+${shown}&gt;</mark>`

describe('every element of the page', () => {
  it.each([
    ['a direction that is turned around', 'txt\u202Eexe', `txt${mark('202e')}exe`],
    ['an isolate', 'a\u2066b\u2069', `a${mark('2066')}b${mark('2069')}`],
    ['zero width', 'pass\u200bword', `pass${mark('200b')}word`],
    ['a tag character', 'a\u{e0041}', `a${mark('e0041')}`],
    ['an escape sequence', '\u001b[8mrm -rf', `${mark('1b', '001B')}[8mrm -rf`],
    ['a line that looks like two', 'a\u2028b\u0085c', `a${mark('2028')}b${mark('85', '0085')}c`],
    ['half a character', 'a\ud800', `a${mark('d800')}`],
  ])('shows by its number what a reader would not see: %s', (_, text, shown) => {
    expect(html(jsx('p', { children: text }))).toBe(`<p>${inside(shown)}</p>`)
    expect(html(jsxs('p', { children: ['so: ', [text, null], 3] }))).toBe(`<p>so: ${inside(shown)}3</p>`)
  })

  it('keeps words from right to left from moving what is around them', () => {
    expect(html(jsx('code', { children: 'if שלום == 5' }))).toBe('<code><span>if <bdi>שלום</bdi> == 5</span></code>')
  })

  it('does the same to what is read aloud or shown as a label, where no element can be', () => {
    const props = { title: 'a\u202e', 'aria-label': 'b\u200b', alt: 'c\u2066', href: '/a\u202e', children: 'x' }
    expect(html(jsx('a', props))).toBe(
      '<a title="a&lt;U+202E&gt;" aria-label="b&lt;U+200B&gt;" alt="c&lt;U+2066&gt;" href="/a\u202e">x</a>',
    )
    expect(html(jsx('option', { children: 'run \u202e' }))).toBe('<option>run &lt;U+202E&gt;</option>')
  })

  it('does the same to what components of others are given, whatever they make of it', () => {
    const Link = ({ children }: { children?: ReactNode }) => createElement('a', null, children)
    expect(html(jsx(Link, { children: 'a\u202eb' }))).toBe(`<a>${inside(`a${mark('202e')}b`)}</a>`)
  })

  it('leaves what is written in a field to the letter, and says below it what cannot be seen', () => {
    const field = html(jsx('textarea', { readOnly: true, value: 'a\u202eb' }))
    expect(field).toContain('>a\u202eb</textarea>')
    expect(field).toContain('Not seen above: &lt;U+202E&gt;')
    expect(html(jsx('textarea', { readOnly: true, value: 'plain' }))).not.toContain('Not seen')
  })

  it('saves a file under a name that cannot seem to end otherwise', () => {
    expect(html(jsx('a', { download: 'photo\u202egpj.exe', children: 'x' }))).toContain('download="photo_gpj.exe"')
    expect(drawnFileName('a\u0000b\u2066.txt')).toBe('a_b_.txt')
  })

  it('leaves everything else as it is', () => {
    const text = 'two\nlines\t漢字 👩‍👩‍👧 नमस्ते é'
    expect(html(jsx('p', { className: 'a', children: text }))).toBe(`<p class="a">${text}</p>`)
  })
})

it('what is approved word for word shows other spaces too', () => {
  expect(html(drawn('rm\u00a0-rf\r', { exactly: true }))).toBe(inside(`rm${mark('a0', '00A0')}-rf${mark('d', '000D')}`))
})

it('a flood of what is not seen becomes few elements', () => {
  expect(html(drawn('\u202e'.repeat(100_000))).match(/<mark/g)).toHaveLength(1)
  expect(html(drawn('a\u202e'.repeat(20_000))).match(/<mark/g)!.length).toBeLessThan(5_000)
})

describe('a link', () => {
  it.each([
    ['https://example.org/a', 'https://example.org/a'],
    ['example.org', 'https://example.org/'],
    ['https://example.org', 'https://example.org/'],
    ['me@example.org', 'mailto:me@example.org'],
  ])('whose text says where it leads needs no more: %s', (text, href) => {
    expect(unsaidTarget(text, href)).toBeUndefined()
  })

  it.each([
    ['https://example.org', 'https://evil.example/', 'evil.example'],
    ['https://example.org@evil.example/x', 'https://example.org@evil.example/x', 'evil.example'],
    ['https://example.org.evil.example/', 'https://example.org.evil.example/', undefined],
    ['https://example.org', 'https://example.org.evil.example/', 'example.org.evil.example'],
    ['here', 'https://evil.example/', 'evil.example'],
    ['https://ex\u200bample.org', 'https://evil.example/', 'evil.example'],
    ['https://аpple.example/', 'https://xn--pple-43d.example/', 'xn--pple-43d.example'],
    ['me@example.org', 'mailto:you@example.org', 'you@example.org'],
  ])('says where it leads if its text does not: %s to %s', (text, href, said) => {
    expect(unsaidTarget(text, href)).toBe(said)
  })
})
