/** A text on one line, at most so many characters of it. */
export function oneLine(text: string, most = Number.POSITIVE_INFINITY): string {
  // Only the beginning can be seen, so a huge text is not searched to its end.
  const start = most === Number.POSITIVE_INFINITY ? text : text.slice(0, most * 8 + 256)
  const chars = [...start.replace(/[ \t\r\n]+/g, ' ').trim()]
  return chars.length <= most && start.length === text.length ? chars.join('') : `${chars.slice(0, most - 1).join('')}…`
}
