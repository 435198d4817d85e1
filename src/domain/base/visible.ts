/**
 * Makes characters visible that a reader cannot see, or that make a reader see something else than what is there: controls (with them every
 * escape sequence), bidirectional controls, invisible characters, lone surrogates. Tabs and newlines stay; a CR LF is a newline.
 * The terminal and the web UI share this table. Idempotent: what it writes is plain ASCII.
 */
export function visible(text: string): string {
  return isHarmless.test(text) ? text : replaceHidden(text.replace(lineEnd, '\n'), numbered)
}

/** The same for text that somebody approves word for word: spaces that are no U+0020 and carriage returns are shown too. */
export const visibleExactly = (text: string) => replaceHidden(text.replace(/\r|[^\S\t\n\r ]/g, numbered), numbered)

/** Replaces each character that `visible` would show. */
export const replaceHidden = (text: string, written: (char: string) => string) =>
  text.replace(hidden, (char: string, flag?: string) => (flag === undefined ? written(char) : char))

/** Whether a line has characters that are written from right to left. */
export const hasRightToLeft = (text: string) => rightToLeft.test(text)

/**
 * Puts words that are written from right to left between U+2068 and U+2069, for places without markup: each run of words keeps its own order and cannot
 * move the digits, signs and words around it. For text that is already visible, as the last step before it is drawn.
 */
export const isolated = (text: string) => (hasRightToLeft(text) ? text.replace(rightToLeftWords, '\u2068$&\u2069') : text)

/** A part of a text, for a screen that can mark it. `shown` is what a reader gets to see of `text`. */
export interface Piece {
  readonly is: 'plain' | 'hidden' | 'rightToLeft'
  readonly text: string
  readonly shown: string
}

/**
 * Takes a text apart into what `visible` would show by number, words that are written from right to left, and the rest. Undefined if the text can be drawn as it is.
 * `exactly` is for what somebody approves word for word.
 */
export function piecesOf(text: string, { exactly = false } = {}): Piece[] | undefined {
  if (exactly ? isAscii.test(text) : isHarmless.test(text)) return undefined
  const pieces: Piece[] = []
  const add = (is: Piece['is'], part: string, shown: string) => {
    const last = pieces.at(-1)
    // One after the other they are one, so that many of them do not become as many elements.
    if (last?.is === is) pieces[pieces.length - 1] = { is, text: last.text + part, shown: last.shown + shown }
    else if (part !== '') pieces.push({ is, text: part, shown })
  }
  const addRest = (rest: string) => {
    let from = 0
    if (hasRightToLeft(rest))
      for (const { 0: words, index } of rest.matchAll(rightToLeftWords)) {
        add('plain', rest.slice(from, index), rest.slice(from, index))
        add('rightToLeft', words, words)
        from = index + words.length
      }
    add('plain', rest.slice(from), rest.slice(from))
  }
  let from = 0
  for (const { 0: char, 1: flag, index } of text.matchAll(exactly ? hiddenExactly : hidden)) {
    if (flag !== undefined) continue
    const isLineEnd = !exactly && char === '\r' && text[index + 1] === '\n'
    addRest(text.slice(from, index))
    if (isLineEnd) add('plain', char, '')
    else add('hidden', char, numbered(char))
    from = index + char.length
  }
  addRest(text.slice(from))
  return pieces.every(({ is }) => is === 'plain') ? undefined : pieces
}

const numbered = (char: string) => `<U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}>`

// Nearly all text: nothing in it needs a look at its neighbours.
const isHarmless = /^[\t\n\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u058f\u2010-\u2027\u2030-\u205e\u2190-\u23ff\u2500-\u257f]*$/
const isAscii = /^[\t\n\x20-\x7e]*$/
const lineEnd = /\r\n/g

/** Scripts whose letters are joined or kept apart by U+200C and U+200D. */
const joining =
  '[\\p{sc=Arabic}\\p{sc=Syriac}\\p{sc=Nko}\\p{sc=Mongolian}\\p{sc=Devanagari}\\p{sc=Bengali}\\p{sc=Gurmukhi}\\p{sc=Gujarati}\\p{sc=Oriya}\\p{sc=Tamil}\\p{sc=Telugu}\\p{sc=Kannada}\\p{sc=Malayalam}\\p{sc=Sinhala}\\p{sc=Khmer}\\p{sc=Myanmar}\\p{sc=Tibetan}]'
/** Invisible characters that belong to the letter or emoji before them; without one they are only there to deceive. */
const rightful = [
  '\\p{ExtPict}\\ufe0f?\\p{EMod}?\\u200d(?=\\p{ExtPict})', // joined emoji
  `${joining}[\\u200c\\u200d](?=${joining})`,
  '[\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d4d\\u0dca]\\u200d', // half letters after a virama
  '\\p{ExtPict}[\\ufe0e\\ufe0f]', // emoji or text presentation
  '[0-9#*]\\ufe0f(?=\\u20e3)', // keycaps
  '[\\p{sc=Han}\\p{Sm}][\\ufe00-\\ufe02]',
  '\\p{sc=Han}[\\u{e0100}-\\u{e01ef}]',
  '\\p{sc=Mongolian}[\\u180b-\\u180d\\u180f]',
].join('|')
/** Format characters that are drawn: number signs of Arabic, Syriac and Kaithi. */
const drawn = '[\\u0600-\\u0605\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u{110bd}\\u{110cd}]'
/** The flags of England, Scotland and Wales end in tag characters. */
const flags =
  '(?<=\\u{1f3f4})\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}'
const notSeen = [
  `(${flags})`,
  `[\\p{DI}\\p{Cf}](?<!${drawn}|${rightful})`,
  '[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028\\u2029\\p{Cs}\\u2800\\ufffc]',
  // Marks piled up until they cover the lines above.
  '\\p{M}(?<=\\p{M}{9})',
]
const hidden = new RegExp(notSeen.join('|'), 'gu')
const hiddenExactly = new RegExp([...notSeen, '[^\\S\\t\\n ]'].join('|'), 'gu')

const rightToLeftLetter = '\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefe\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}'
const rightToLeft = new RegExp(`[${rightToLeftLetter}]`, 'u')
const rightToLeftWords = new RegExp(
  `[${rightToLeftLetter}](?:[${rightToLeftLetter}\\p{M}\\u200c\\u200d]| +(?=[${rightToLeftLetter}]))*`,
  'gu',
)
