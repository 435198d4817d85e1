import { describe, expect, it } from 'vitest'
import { createRedactor } from './redactor.ts'

// What an agent says is looked through while everything else waits: no text may cost much more than another of its length.
// What costs the square of its length, or the length of a secret for each sign, costs a thousand times as much.
const most = 40
const length = 1024 * 1024
const filled = (piece: string) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length)

const random = (index: number) => ((index + 1) * 2_654_435_761) >>> 0
const words = Array.from({ length: 20_000 }, (_, index) => random(index).toString(36))
/** The last word lets it pass the first, quick look. */
const harmless = `${filled(words.join(' '))} bearer`

const periodic = 'ab'.repeat(2_000)
const manyAlike = Array.from({ length: 300 }, (_, index) => `mk-common-beginning-${random(index).toString(36).padStart(8, 'x')}`)
const keyFile = Array.from({ length: 40 }, (_, line) =>
  Buffer.from(words.slice(line * 8, line * 8 + 8).join('')).toString('base64'),
).join('\n')

const redactor = createRedactor()
for (const [index, secret] of ['eight888', 'correct-horse-battery-staple', periodic, keyFile, ...manyAlike].entries())
  redactor.add(`S${index}`, secret)

const ways: Record<string, (text: string) => unknown> = {
  text: redactor.text,
  value: (text) => redactor.value({ list: [{ text }] }),
  stream(text) {
    const bytes = Buffer.from(text)
    const stream = redactor.stream()
    for (let at = 0; at < bytes.length; at += 65_536) stream.write(bytes.subarray(at, at + 65_536))
    return stream.end()
  },
}

const cpuOf = (work: () => unknown) => {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return user + system
}

/** Of this thread alone, and the best of several: what the machine does besides only ever adds. Stops early at what is quick enough. */
function costOf(way: (text: string) => unknown, text: string, enough: number): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5 && best > enough; round++)
    best = Math.min(
      best,
      cpuOf(() => way(text)),
    )
  return best
}

/** By the mean of many: a kernel that counts in ticks says of one alone that it cost nothing. */
const harmlessRounds = 50
const costOfHarmless = () => {
  redactor.text(harmless)
  return (
    cpuOf(() => {
      for (let round = 0; round < harmlessRounds; round++) redactor.text(harmless)
    }) / harmlessRounds
  )
}

const prefixes = [
  'sk-',
  'eyJ',
  'eyJ-',
  'eyJaaaaaaaa.',
  'eyJaaaaaaaa.eyJ-',
  'ghp_',
  'pawl_',
  'github_pat_',
  'AKIA',
  'ASIA-',
  'bearer ',
  'Bearer\t',
  'authorization: bearer ',
  'authorization =',
  '-----BEGIN ',
  '-----BEGIN A A A A ',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN RSA PRIVATE KEY-----\nA: ',
  '-----BEGIN PRIVATE KEY-----\\nA-',
]
const fillings = ['a', '-', '_', ' ', '\\n', '.', 'Aa: ', 'abcdefghijklmnopqrst\n', '-----BEGIN']

const nearSecrets: Record<string, string> = {
  'a secret without its end': filled('correct-horse-battery-stapl'),
  'the beginning of a secret': filled('correct-'),
  'a secret that repeats itself, without its end': filled(periodic.slice(0, -1)),
  'what a secret that repeats itself consists of, broken off late': filled(`${'ab'.repeat(1_990)}-`),
  'what many secrets begin with': filled('mk-common-beginning-'),
  'what many secrets begin with, and one more sign': filled('mk-common-beginning-x'),
  'the lines of a key file without their ends': filled(
    keyFile
      .split('\n')
      .map((line) => line.slice(0, -1))
      .join('\n'),
  ),
  'many secrets': filled(manyAlike.join(' ')),
}

/** What would cost more than the limit, of texts each of which is named. */
const expensive = (way: (text: string) => unknown, limit: number, texts: Record<string, string>) =>
  Object.keys(texts).filter((name) => costOf(way, texts[name]!, limit) >= limit)

describe.each(Object.keys(ways))('looking through a hostile text costs little more than through another: as %s', (name) => {
  const way = ways[name]!
  // Of all ways by the same measure: that harmless bytes are dismissed sooner than a harmless text does not make a hostile one worse.
  const limit = most * costOfHarmless()

  it('one that begins like a secret all over', () => {
    expect(expensive(way, limit, Object.fromEntries(prefixes.map((prefix) => [prefix, filled(prefix)])))).toEqual([])
  })

  it('one that begins like a secret all over, and goes on without an end', () => {
    const text = (prefix: string) => filled(prefix).slice(0, length / 2) + 'a'.repeat(length / 2)
    expect(expensive(way, limit, Object.fromEntries(prefixes.map((prefix) => [prefix, text(prefix)])))).toEqual([])
  })

  it('one that is nearly a secret it was told', () => {
    expect(expensive(way, limit, nearSecrets)).toEqual([])
  })
})

describe('looking through a hostile text costs little more than through another: one that begins like a secret', () => {
  const limit = most * costOfHarmless()

  it.each(prefixes)('%j, and goes on with all it may have', (prefix) => {
    const texts = fillings.flatMap((filling) => [
      [`once, with ${filling}`, prefix + filled(filling)],
      [`in turn with ${filling}`, filled(prefix + filling)],
    ])
    expect(expensive(redactor.text, limit, Object.fromEntries(texts))).toEqual([])
  })
})
