import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRedactor } from './redactor.ts'

/** A sample. 100,000 of them: npm run show:redaction-fuzz */
const cases = Number(process.env.PAWL_FUZZ_CASES ?? 5_000)

/** Each writes a secret down in the middle of something else, and says which part of what it wrote is surely of the secret. */
const ways: Record<string, (secret: string, around: readonly [string, string]) => Written> = {
  plainly: (secret, around) => between(secret, around),
  'in JSON': (secret, around) => inJson(secret, around, (text) => text),
  'in JSON of ASCII alone': (secret, around) => inJson(secret, around, ascii),
  'in JSON inside a string of JSON': (secret, around) => inJson(secret, around, (text) => JSON.stringify(text).slice(1, -1)),
  'percent-encoded': (secret, around) => between(encodeURIComponent(secret), around),
  'percent-encoded in small letters': (secret, around) =>
    between(
      encodeURIComponent(secret).replace(/%../g, (sign) => sign.toLowerCase()),
      around,
    ),
  'in hexadecimal': (secret, around) => between(Buffer.from(secret).toString('hex'), around),
  'in capital hexadecimal': (secret, around) => between(Buffer.from(secret).toString('hex').toUpperCase(), around),
  'in base64 alone': (secret, around) => between(certain('', secret, '', 'base64'), around),
  'in base64 with its neighbours': (secret, [before, after]) => wholeBase64(before, secret, after, 'base64'),
  'in base64 for addresses with its neighbours': (secret, [before, after]) => wholeBase64(before, secret, after, 'base64url'),
  'in base64 in lines of 76': (secret, [before, after]) => inLines(wholeBase64(before, secret, after, 'base64'), 76, '\n'),
  'in base64 in lines of 64, in JSON': (secret, [before, after]) =>
    inLines(wholeBase64(before, secret, after, 'base64'), 64, '\\n'),
  'in base64 in indented lines': (secret, [before, after]) =>
    inLines(wholeBase64(before, secret, after, 'base64'), 60, '\r\n    '),
  'in hexadecimal in lines of 60': (secret, [before, after]) => {
    const hexadecimal = (text: string) => Buffer.from(text).toString('hex')
    return inLines({ text: hexadecimal(before + secret + after), certain: hexadecimal(secret) }, 60, '\n')
  },
  backwards: (secret, around) => between([...secret].reverse().join(''), around),
  'with a zero between its signs': (secret, around) => between([...secret].join('\0'), around),
}

interface Written {
  readonly text: string
  readonly certain: string
}

const between = (certain: string, [before, after]: readonly [string, string]): Written => ({
  text: `${before} ${certain} ${after}`,
  certain,
})
const ascii = (text: string) => text.replace(/[^\0-\x7f]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
function inJson(secret: string, [before, after]: readonly [string, string], write: (text: string) => string): Written {
  const quoted = (text: string) => write(JSON.stringify(text).slice(1, -1))
  return { text: quoted(`${before} ${secret} ${after}`), certain: quoted(secret) }
}
function certain(before: string, secret: string, after: string, how: 'base64' | 'base64url'): string {
  const [skip, length] = [Buffer.byteLength(before), Buffer.byteLength(secret)]
  const whole = Buffer.from(before + secret + after).toString(how)
  return whole.slice(Math.ceil((skip * 4) / 3), Math.floor(((skip + length) * 4) / 3))
}
const wholeBase64 = (before: string, secret: string, after: string, how: 'base64' | 'base64url'): Written => ({
  text: Buffer.from(before + secret + after).toString(how),
  certain: certain(before, secret, after, how),
})
const inLines = ({ text, certain }: Written, width: number, lineBreak: string): Written => ({
  text: text.replace(new RegExp(`.{${width}}`, 'gs'), (line) => `${line}${lineBreak}`),
  certain,
})

/** So many signs of a secret in a row, in any form, are a leak. */
const leak = 8
function leaksOf(clean: string, certain: string): string[] {
  const joined = clean.replaceAll(/(?:\r?\n|\\n) */g, '')
  const pieces = Array.from({ length: Math.max(0, certain.length - leak + 1) }, (_, at) => certain.slice(at, at + leak))
  return pieces.filter((piece) => clean.includes(piece) || joined.includes(piece))
}

const signs = [
  fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_'),
  fc.constantFrom(...'$^.*+?()[]{}|\\/"\'`<>&%#~!@=;:,'),
  fc.constantFrom('ä', 'ß', '日', '本', '🙂', '\u2028', '\u00a0'),
]
const secrets = fc
  .array(
    fc.oneof({ weight: 6, arbitrary: signs[0]! }, { weight: 2, arbitrary: signs[1]! }, { weight: 1, arbitrary: signs[2]! }),
    {
      minLength: 8,
      maxLength: 150,
    },
  )
  .map((all) => all.join(''))
  .filter((secret) => secret.trim() === secret)
const surroundings = fc.tuple(
  fc.stringMatching(/^[w-z ]{0,90}$/, { size: 'max' }),
  fc.stringMatching(/^[w-z ]{0,30}$/, { size: 'max' }),
)
const cuts = fc.array(fc.nat({ max: 2_000 }), { maxLength: 4 })

describe('a secret of any kind is hidden, whole and in pieces, however it is written', () => {
  const perWay = Math.ceil(cases / Object.keys(ways).length)
  it.each(Object.keys(ways))('%s', { timeout: 60_000 + cases }, (name) => {
    const write = ways[name]!
    fc.assert(
      fc.property(secrets, surroundings, cuts, (secret, around, places) => {
        // Otherwise part of it stands in its surroundings anyway.
        fc.pre(new Set(secret).size > 4 && !/[w-z ]{8}/.test(secret))
        const redactor = createRedactor()
        redactor.add('S', secret)
        const { text, certain } = write(secret, around)
        fc.pre(leaksOf(around.join(' '), certain).length === 0)
        expect(leaksOf(redactor.text(text), certain)).toEqual([])
        const bytes = Buffer.from(`${text}.`)
        const stream = redactor.stream()
        const ends = [...places.map((place) => place % bytes.length).sort((a, b) => a - b), bytes.length]
        let start = 0
        const written = ends.flatMap((end) => {
          const chunk = stream.write(bytes.subarray(start, end))
          start = end
          return chunk
        })
        expect(leaksOf(Buffer.concat([...written, stream.end()]).toString(), certain)).toEqual([])
      }),
      { numRuns: perWay },
    )
  })
})
