import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRedactor } from './redactor.ts'

const redactorOf = (secrets: Record<string, string>) => {
  const redactor = createRedactor()
  for (const [name, value] of Object.entries(secrets)) redactor.add(name, value)
  return redactor
}

describe('a redactor', () => {
  it('replaces every secret it was told by its name and leaves the rest as it is', () => {
    const { text } = redactorOf({ TOKEN: 'correct-horse-1', OTHER: '$^.*(regex)+' })
    expect(text('a correct-horse-1, b $^.*(regex)+ c correct-horse-1')).toBe(
      'a [redacted:TOKEN], b [redacted:OTHER] c [redacted:TOKEN]',
    )
    expect(text('correct-horse-2')).toBe('correct-horse-2')
  })

  it('takes the longer of two secrets that begin alike, and of two with the same value either', () => {
    const redactor = redactorOf({ SHORT: 'abcdefgh', LONG: 'abcdefghijklmnop' })
    expect(redactor.text('abcdefgh abcdefghijklmnop')).toBe('[redacted:SHORT] [redacted:LONG]')
    const forget = redactor.add('AGAIN', 'abcdefgh')
    forget()
    forget()
    expect(redactor.text('abcdefgh')).toBe('[redacted:SHORT]')
  })

  it('forgets a secret when told so', () => {
    const redactor = createRedactor()
    const forget = redactor.add('TOKEN', 'correct-horse-1')
    expect(redactor.text('correct-horse-1')).toBe('[redacted:TOKEN]')
    forget()
    expect(redactor.text('correct-horse-1')).toBe('correct-horse-1')
  })

  it('ignores values of less than 8 signs', () => {
    expect(redactorOf({ TOKEN: 'seven77', PADDED: '  six666\n' }).text('seven77 six666')).toBe('seven77 six666')
    expect(redactorOf({ TOKEN: 'eight888' }).text('eight888')).toBe('[redacted:TOKEN]')
  })

  const odd = 'quote " back\\slash\nnew line, ümlaut and 日本'
  it.each([
    ['as it is', odd],
    ['in JSON', JSON.stringify({ odd })],
    ['in JSON inside a string of JSON', JSON.stringify({ inner: JSON.stringify({ odd }) })],
    [
      'in JSON of ASCII alone',
      JSON.stringify({ odd }).replace(/[^\0-\x7f]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`),
    ],
    ['in an address', `https://example.com/?q=${encodeURIComponent(odd)}`],
    ['in hexadecimal', Buffer.from(odd).toString('hex')],
    ['in capital hexadecimal', Buffer.from(odd).toString('hex').toUpperCase()],
    ['in base64', Buffer.from(odd).toString('base64')],
    ['in base64 after one byte', Buffer.from(`x${odd}yz`).toString('base64')],
    ['in base64 after two bytes', Buffer.from(`xy${odd}z`).toString('base64url')],
  ])('knows a secret that is written %s, with quotes, line breaks and other scripts in it', (_, written) => {
    const clean = redactorOf({ ODD: odd }).text(written)
    expect(clean).toContain('[redacted:ODD]')
    // Whatever is left of it at both ends is too little to tell anything.
    expect(clean.replaceAll('[redacted:ODD]', '').length).toBeLessThan(written.length - odd.length + 8)
    if (written.startsWith('{')) expect(JSON.parse(clean)).toBeTypeOf('object')
  })

  it("knows the lines of a secret of many lines, but not those that could be anybody's", () => {
    const account = '{\n  "type": "account",\n  "key": "c2VjcmV0LXNlY3JldA=="\n}'
    expect(redactorOf({ ACCOUNT: account }).text('"type": "account",\n"key": "c2VjcmV0LXNlY3JldA=="')).toBe(
      '"type": "account",\n[redacted:ACCOUNT]',
    )
  })

  it('looks at every text of a value, keys too, and answers the value itself where there is nothing to hide', () => {
    const { value } = redactorOf({ TOKEN: 'correct-horse-1' })
    const at = new Date(0)
    const dirty = { list: ['a', { 'x correct-horse-1': 1, deep: ['correct-horse-1'] }], at, none: null, missing: undefined }
    expect(value(dirty)).toEqual({
      list: ['a', { 'x [redacted:TOKEN]': 1, deep: ['[redacted:TOKEN]'] }],
      at,
      none: null,
      missing: undefined,
    })
    const clean = { list: ['nothing', { here: 'at all' }], at }
    expect(value(clean)).toBe(clean)
  })

  it('keeps nothing of what lies too deep to look into, and does not fall over', () => {
    let deep: unknown = 'correct-horse-1'
    for (let depth = 0; depth < 30_000; depth++) deep = [deep]
    expect(JSON.stringify(redactorOf({ TOKEN: 'correct-horse-1' }).value(deep))).toContain('too deep')
  })

  it('writes names so that they cannot break what they stand in', () => {
    expect(redactorOf({ 'a"b\n]': 'correct-horse-1' }).text('correct-horse-1')).toBe('[redacted:a_b__]')
  })
})

describe('secrets that nobody told', () => {
  const { text } = createRedactor()
  const base64 = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7'
  const key = (line: string) =>
    ['-----BEGIN RSA PRIVATE KEY-----', base64, base64, 'c2hvcnQ=', '-----END RSA PRIVATE KEY-----'].join(line)
  it.each([
    ['Authorization: Bearer abc.def-ghi_123', 'Authorization: Bearer [redacted:authorization]'],
    ['"authorization": "Basic dXNlcjpwYXNz"', '"authorization": "Basic [redacted:authorization]"'],
    ['curl -H "X: bearer 0123456789abcdefghijkl"', 'curl -H "X: bearer [redacted:authorization]"'],
    ['key=sk-ant-api03-AbCdEfGhIjKlMnOpQrStUv_wx-yz, next', 'key=[redacted:api key], next'],
    ['\nsk-proj-0123456789abcdefghij\n', '\n[redacted:api key]\n'],
    [`export T=ghp_${'a1B2'.repeat(9)};`, 'export T=[redacted:github token];'],
    [`PAWL_TOKEN=pawl_${'aB-3_'.repeat(8)}xyz next`, 'PAWL_TOKEN=[redacted:pawl token] next'],
    ['AKIAIOSFODNN7EXAMPLE', '[redacted:aws key]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r', '[redacted:jwt]'],
    [`before ${key('\n')} after`, 'before [redacted:private key] after'],
    [JSON.stringify({ key: key('\n') }), '{"key":"[redacted:private key]"}'],
    [key('\n').slice(0, 100), '[redacted:private key]'],
    [key('\r\n').replace('-----\r\n', '-----\r\nProc-Type: 4,ENCRYPTED\r\n\r\n'), '[redacted:private key]'],
    [JSON.stringify(key('\r\n')), '"[redacted:private key]"'],
    [`${key('\n')}\n${key('\n')}`, '[redacted:private key]\n[redacted:private key]'],
    [`sk-short sk-sk-${'a'.repeat(20)}1 sk-x`, 'sk-short [redacted:api key] sk-x'],
    [`github_pat_ghp_${'a1B2'.repeat(9)}`, '[redacted:github token]'],
    [`x_ghp_ghp_${'a1B2'.repeat(9)}`, 'x_ghp_[redacted:github token]'],
    [
      'bearer words-without-a-number-bearer 0123456789abcdefghijkl',
      'bearer words-without-a-number-bearer [redacted:authorization]',
    ],
    [
      'eyJhbG.eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0. eyJhbGciOiJI.eyJhbGciOi!',
      'eyJhbG.[redacted:jwt] eyJhbGciOiJI.eyJhbGciOi!',
    ],
  ])('are known by their looks: %s', (written, clean) => {
    expect(text(written)).toBe(clean)
  })

  it.each([
    'risk-free-0123456789abcdefghijk, task-0123456789abcdefghijkl',
    'class="sk-loading-spinner-container"',
    'Authorization: Bearer $TOKEN',
    'Bearer authentication-is-described-below',
    'a UUID 0198c0de-7a3f-7bcd-9e01-23456789abcd and toolu_01A09q90qw90lq917835lq9',
    'mcp__pawl__read_file and pawl_12_345, pawl_a-name-that-is-not-long-enough',
    'eyJ is how a token begins',
    '-----BEGIN PUBLIC KEY-----',
  ])('are not seen in everything: %s', (harmless) => {
    expect(text(harmless)).toBe(harmless)
  })
})

describe('bytes that come in pieces', () => {
  const inPieces = (redactor: ReturnType<typeof createRedactor>, bytes: Buffer, cuts: readonly number[]) => {
    const stream = redactor.stream()
    const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
    const written = places.slice(1).flatMap((end, index) => stream.write(bytes.subarray(places[index], end)))
    return Buffer.concat([...written, stream.end()])
  }

  it('hide a secret wherever they are cut', () => {
    const redactor = redactorOf({ TOKEN: 'correct-horse-1', ODD: 'naïve "日本" secret', LONGER: 'correct-horse-1-and-battery' })
    const said = 'a correct-horse-1 b naïve "日本" secret c correct-horse-1-and-battery d correct-hor'
    const clean = 'a [redacted:TOKEN] b [redacted:ODD] c [redacted:LONGER] d [redacted:cut off]'
    const bytes = Buffer.from(said)
    for (let cut = 0; cut <= bytes.length; cut++) expect(inPieces(redactor, bytes, [cut]).toString()).toBe(clean)
    expect(inPieces(redactor, bytes, [...bytes.keys()]).toString()).toBe(clean)
  })

  it('are what they were where there is no secret, to the byte, and wait for nothing', () => {
    const redactor = redactorOf({ TOKEN: 'correct-horse-1' })
    const bytes = Buffer.from([0x61, 0xff, 0x00, 0xc3, 0x28, 0x0a])
    expect(redactor.stream().write(bytes)).toEqual([bytes])
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.array(fc.nat(), { maxLength: 5 }), (given, cuts) => {
        expect(inPieces(redactor, Buffer.from(given), cuts)).toEqual(Buffer.from(given))
      }),
    )
  })

  it('hide in pieces what they hide as a whole, whatever the secrets', () => {
    const sign = fc.constantFrom('a', 'b')
    const secret = fc.array(sign, { minLength: 8, maxLength: 12 }).map((signs) => signs.join(''))
    const said = fc.array(sign, { maxLength: 80 }).map((signs) => signs.join(''))
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        said,
        fc.array(fc.nat(), { maxLength: 5 }),
        (secrets, text, cuts) => {
          const redactor = redactorOf(Object.fromEntries(secrets.map((value, index) => [`S${index}`, value])))
          const clean = redactor.text(text)
          for (const value of secrets) expect(clean).not.toContain(value)
          // The end may be the beginning of a secret, which only a stream must hide.
          const streamed = inPieces(redactor, Buffer.from(`${text}.`), cuts).toString()
          expect(streamed).toBe(`${clean}.`)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('hide what is left when secrets come and go', () => {
    const redactor = createRedactor()
    const values = Array.from({ length: 2_000 }, (_, index) => `secret-number-${String(index).padStart(5, '0')}`)
    const forgets = values.map((value, index) => redactor.add(`S${index}`, value))
    for (const forget of forgets.slice(0, -1)) forget()
    expect(redactor.text(`${values.at(0)} ${values.at(-1)}`)).toBe(`${values.at(0)} [redacted:S1999]`)
  })
})

describe('in place, in pieces', () => {
  it('finds a secret wherever it is cut in two, and keeps every other byte where it was', async () => {
    const redactor = createRedactor()
    redactor.add('KEY', 'correct horse 7')
    const text = Buffer.from(
      `${'a'.repeat(200_000)}correct horse 7${'b'.repeat(200_000)}${Buffer.from('correct horse 7').toString('hex')}`,
    )
    for (const size of [100_000, 199_990, 200_007, 131_072, 1 << 20]) {
      const pieces = (async function* () {
        for (let at = 0; at < text.length; at += size) yield text.subarray(at, at + size)
      })()
      const kept: Buffer[] = []
      for await (const piece of redactor.inPlaceOf(pieces)) kept.push(piece)
      const clean = Buffer.concat(kept).toString()
      expect(clean.length).toBe(text.length)
      expect(clean.replace(/a{200000}|b{200000}/g, '|')).toMatch(/^\|\[redacted:KEY\]\*\|\[redacted:KEY\]\**$/)
    }
  })
})
