import { lexer, type Token } from 'marked'

/** The time to read grows faster than the text; what is longer is shown as it is. */
const most = 20_000
/** Quotes and lists within each other, as nobody writes them. */
const tooDeep = /^(?:[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])){40}/m

/** A text taken apart; undefined if it is not to be read as markdown but shown as it is. */
export function tokensOf(text: string): Token[] | undefined {
  if (text.length > most || tooDeep.test(text)) return undefined
  try {
    return lexer(text, { gfm: true, breaks: true })
  } catch (error) {
    // Deeper than the stack after all.
    if (error instanceof RangeError) return undefined
    throw error
  }
}
