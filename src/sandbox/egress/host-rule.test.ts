import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readHost, readWrittenHost } from './host-name.ts'
import { grantedBy, hostCall, hostQuestion } from './host-question.ts'
import { decide, readRule, readRules } from './host-rule.ts'

const lists = (allow: string[], ask: string[] = [], deny: string[] = [], granted: string[] = []) =>
  readRules({ allow, ask, deny, granted })
const verdict = (rules: ReturnType<typeof lists>, host: string, port = 443) => decide(rules, host, port).verdict

describe('a host name', () => {
  it('has one form', () => {
    for (const text of ['example.org', 'EXAMPLE.org', 'example.org.', 'Example.Org.'])
      expect(readHost(text)?.name).toBe('example.org')
    expect(readHost('[0:0::0:1]')).toEqual({ name: '::1', kind: 'address' })
    expect(readHost('10.0.0.1')).toEqual({ name: '10.0.0.1', kind: 'address' })
    expect(readHost('xn--bcher-kva.example')?.name).toBe('xn--bcher-kva.example')
    expect(readHost('_dmarc.a-b.example')?.name).toBe('_dmarc.a-b.example')
  })

  it.each([
    ['', '.', '..', 'a..b', '.a', 'a..', '-a.example', 'a-.example', `${'a'.repeat(64)}.example`, 'a.'.repeat(130)],
    [
      'a\0b',
      'evil.example\0.good.example',
      'a b',
      ' a',
      'a ',
      'a\tb',
      'a\r\nb',
      'a\x7f',
      'a%2eb',
      'a%00',
      'user@host',
      'a/b',
      'a\\b',
      'a?b',
      'a#b',
    ],
    [
      '127.1',
      '127.0.1',
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '0177.0.0.1',
      '017700000001',
      '127.0.0.01',
      '127.0.0.0x1',
      '1.2.3.4.5',
      '256.0.0.1',
    ],
    ['127.0.0.1.', '0x', '0', 'a.0', 'a.0x1f', '::1', '[::1', '[::1%lo]', '[127.0.0.1]', '[]', 'a:80'],
    ['bücher.example', '１２７.0.0.1', 'ⅼocalhost', 'a。b', 'xn--bücher.example'],
  ])('is nothing that somebody reads otherwise', (...texts) => {
    for (const text of texts) expect([text, readHost(text)]).toEqual([text, undefined])
  })

  it('may be written in any script by a person, but then it is a name', () => {
    expect(readWrittenHost('bücher.example')?.name).toBe('xn--bcher-kva.example')
    for (const text of ['１２７.0.0.1', 'bü cher.example', 'bücher.example:1', 'bü@cher.example', 'bü%41.example'])
      expect(readWrittenHost(text)).toBeUndefined()
  })

  it('is what the platform makes of it too, whatever we take', () => {
    const sign = fc.constantFrom(...'abx0179.-_@%:/\\[]#? \t\0\x7f*üＡ。', 'xn--', '0x', '127', 'localhost', '%2e', 'example')
    const text = fc.oneof(
      fc.array(sign, { maxLength: 12 }).map((signs) => signs.join('')),
      fc.ipV4(),
      fc.ipV6().map((ip) => `[${ip}]`),
    )
    fc.assert(
      fc.property(text, (host) => {
        const ours = readHost(host)
        if (!ours) return
        const theirs = new URL(`http://${host}/`)
        expect(theirs.hostname.replace(/^\[|\]$|\.$/g, '')).toBe(ours.name)
        expect([theirs.username, theirs.port, theirs.pathname]).toEqual(['', '', '/'])
        expect(isIP(ours.name) > 0).toBe(ours.kind === 'address')
      }),
      { numRuns: 20_000 },
    )
  })

  it('is never a name for us and an address for the resolver of the system', async () => {
    const radix = fc.constantFrom(
      (n: number) => `${n}`,
      (n: number) => `0x${n.toString(16)}`,
      (n: number) => `0${n.toString(8)}`,
    )
    // The C library takes one to four numbers, of which the last one fills whatever the others leave.
    const form = fc.tuple(fc.constantFrom(1, 2, 3, 4), radix, radix).map(([parts, first, last]) => {
      const rest = parts === 1 ? 127 * 2 ** 24 + 1 : 1
      return [...[127, 0, 0].slice(0, parts - 1).map(first), last(rest)].join('.')
    })
    let asAddress = 0
    for (const text of new Set(fc.sample(form, 200))) {
      const theirs = await lookup(text, { all: true }).catch(() => [])
      if (theirs.length > 0) asAddress++
      const ours = readHost(text)
      if (ours) expect(theirs.map(({ address }) => address)).toEqual([ours.name])
    }
    expect(asAddress).toBeGreaterThan(15)
  })
})

describe('the rules of the network', () => {
  it('match whole names and whole labels', () => {
    const rules = lists(['example.org', '*.example.net'])
    expect(verdict(rules, 'example.org')).toBe('allow')
    expect(verdict(rules, 'EXAMPLE.ORG.')).toBe('allow')
    expect(verdict(rules, 'a.b.example.net')).toBe('allow')
    for (const host of [
      'www.example.org',
      'example.org.evil.example',
      'notexample.org',
      'example.net',
      'evilexample.net',
      'a.example.net.evil',
    ])
      expect([host, verdict(rules, host)]).toEqual([host, 'deny'])
  })

  it('mean 443 and 80 unless they name a port', () => {
    const rules = lists(['example.org', 'git.example:22'])
    expect([443, 80, 8443].map((port) => verdict(rules, 'example.org', port))).toEqual(['allow', 'allow', 'deny'])
    expect([443, 22].map((port) => verdict(rules, 'git.example', port))).toEqual(['deny', 'allow'])
    for (const port of [0, -1, 65_536, 1.5, Number.NaN]) expect(verdict(lists(['*']), 'example.org', port)).toBe('deny')
  })

  it('mean an address only when they spell it out', () => {
    const rules = lists(['*', '127.0.0.1:4873', '[::1]:4873'])
    expect(verdict(rules, '127.0.0.1', 4873)).toBe('allow')
    expect(verdict(rules, '[0::1]', 4873)).toBe('allow')
    expect(verdict(rules, '127.0.0.1')).toBe('deny')
    expect(verdict(rules, '93.184.215.14')).toBe('deny')
    expect(decide(rules, '127.0.0.1', 4873).local).toBe(true)
    expect(decide(rules, 'example.org', 443).local).toBe(false)
    expect(decide(lists(['registry.corp local']), 'registry.corp', 443).local).toBe(true)
  })

  it('refuse before they ask and before they allow, and the closer of ask and allow wins', () => {
    const rules = lists(['registry.example', '*.cdn.example'], ['*', 'x.cdn.example'], ['bad.registry.example', '*.evil.example'])
    expect(verdict(rules, 'registry.example')).toBe('allow')
    expect(verdict(rules, 'a.cdn.example')).toBe('allow')
    expect(verdict(rules, 'x.cdn.example')).toBe('ask')
    expect(verdict(rules, 'other.example')).toBe('ask')
    expect(verdict(rules, 'a.evil.example')).toBe('deny')
    expect(verdict(lists(['same.example'], ['same.example']), 'same.example')).toBe('ask')
    expect(decide(lists([]), 'other.example', 443)).toMatchObject({ verdict: 'deny', why: 'no rule names it' })
  })

  it('allow what was granted for the task, but never what is denied or cannot be asked', () => {
    const rules = lists([], ['*'], ['evil.example'], ['other.example:443', 'evil.example:443', '127.0.0.1:443'])
    expect(verdict(rules, 'other.example')).toBe('allow')
    expect(verdict(rules, 'other.example', 80)).toBe('ask')
    expect(verdict(rules, 'evil.example')).toBe('deny')
    expect(verdict(rules, '127.0.0.1')).toBe('deny')
    const local = lists([], ['10.0.0.5:22', 'a.corp local'], [], ['10.0.0.5:22', 'a.corp:443'])
    expect(decide(local, '10.0.0.5', 22)).toMatchObject({ verdict: 'allow', local: true })
    expect(decide(local, 'a.corp', 443)).toMatchObject({ verdict: 'allow', local: true })
  })

  it.each([
    [
      '',
      ' ',
      'a b',
      'example.org remote',
      'example.org local local',
      '**.example',
      '*example.org',
      'a.*.example',
      '*.127.0.0.1',
      '*.',
    ],
    [
      'https://example.org',
      'example.org/path',
      'example.org:0',
      'example.org:65536',
      'example.org:x',
      'user@example.org',
      'a:1:2',
      '127.1',
    ],
    [
      '*.corp local',
      '* local',
      '169.254.169.254',
      '0.0.0.0',
      '[::]',
      '[fe80::1]',
      '224.0.0.1',
      '[::ffff:127.0.0.1]',
      '[fd00:ec2::254]',
    ],
  ])('are refused with a sentence when they are none', (...texts) => {
    for (const text of texts) expect(() => readRule(text), text).toThrow(/network rule/)
  })

  it('may refuse an address that nobody could allow', () => {
    expect(readRule('169.254.169.254', 'deny').host).toBe('169.254.169.254')
  })
})

describe('the question about a host', () => {
  it('grants exactly the host that the person was shown, if they chose to allow it', () => {
    const target = { host: 'registry.example', port: 8443 }
    const asked = { ...hostQuestion(target), call: hostCall(target), answer: 'Allow for this task' }
    expect(grantedBy([asked])).toEqual(['registry.example:8443'])
    expect(
      grantedBy([
        { ...asked, answer: 'Refuse' },
        { ...asked, answer: null },
        { ...asked, answer: 'yes' },
      ]),
    ).toEqual([])
    for (const text of [
      `Run the tests?\n${asked.text}`,
      `${asked.text} `,
      'May this task connect to 127.1:80?',
      'May this task connect to *:443?',
    ])
      expect(grantedBy([{ ...asked, text }])).toEqual([])
    expect(grantedBy([{ ...asked, kind: 'free' }])).toEqual([])
    // An agent that asks the very same in its own name has no digest of ours beside it.
    expect(grantedBy([{ ...asked, call: null }])).toEqual([])
    expect(grantedBy([{ ...asked, call: hostCall({ ...target, port: 443 }) }])).toEqual([])
    expect(grantedBy([{ ...asked, call: { ...asked.call, tool: 'Bash' } }])).toEqual([])
  })
})
