import { replaceHidden, visible } from '../../domain/base/visible.ts'

// Text from outside (agents, tools, other people's files) is data: nothing in it may steer the terminal (PROMISES R18).

/** Text from outside for a terminal or a text log: only tab and newline are left of the controls; everything else that is not seen is shown by its number. */
export const plain = visible

/** The same on one line, at most `columns` wide. */
export function oneLine(text: string, columns = Number.POSITIVE_INFINITY): string {
  // Only the beginning can be seen, so a huge text is not searched to its end.
  const start = columns === Number.POSITIVE_INFINITY ? text : text.slice(0, columns * 8 + 256)
  return cut(plain(start).replace(/\s+/g, ' ').trim(), columns, start.length < text.length)
}

/** One line of JSON that is safe to look at: what JSON leaves as it is but a terminal or an eye would follow is escaped. */
export function jsonLine(value: unknown): string {
  return replaceHidden(JSON.stringify(value), (char) =>
    [...Array(char.length).keys()].map((i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  )
}

/** Columns a text takes on a terminal. */
export function widthOf(text: string): number {
  let width = 0
  for (const char of text) width += charWidth(char)
  return width
}

/** Our own sentences, broken between words; what follows a break is indented like the beginning. Colours count for nothing. */
export function wrap(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns))
    .join('\n')
}

function wrapLine(line: string, columns: number): string {
  const indent = ' '.repeat(/^(?:\x1b\[[0-9;]*m)*([ •→]*)/.exec(line)![1]!.length)
  let [done, current] = ['', '']
  for (const word of line.split(/(?<=\S) /)) {
    const longer = current === '' ? word : `${current} ${word}`
    if (current !== '' && widthOf(longer.replace(/\x1b\[[0-9;]*m/g, '')) > columns) {
      done += `${current}\n`
      current = `${indent}${word}`
    } else current = longer
  }
  return done + current
}

function cut(text: string, columns: number, alreadyCut: boolean): string {
  if (!alreadyCut && widthOf(text) <= columns) return text
  let width = 0
  let kept = ''
  for (const char of text) {
    width += charWidth(char)
    if (width > columns - 1) break
    kept += char
  }
  return `${kept}…`
}

const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|^\p{Emoji_Presentation}/u

function charWidth(char: string): number {
  if (char.charCodeAt(0) < 0x300) return 1
  if (zeroWidth.test(char)) return 0
  return wide.test(char) ? 2 : 1
}
