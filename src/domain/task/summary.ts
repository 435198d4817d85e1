import { readHeader } from './agent-header.ts'

/** What was done, in a few sentences: the agent's own summary if its last text has one, else the text itself, cut where a reader would. Undefined if it says nothing. */
export function summaryOf(text: string, most = mostSigns): string | undefined {
  const said = readHeader(text)?.rest ?? text.trim()
  const found = ownSummary(said) ?? said
  return found === '' ? undefined : cutWell(found, most)
}

/** One line for lists: the first that says something, without the marks of markdown. Undefined if there is none of at least four signs. */
export function briefOf(text: string, most = 80): string | undefined {
  let isFenced = false
  for (const line of text.slice(0, 20_000).split('\n')) {
    if (isFence(line)) isFenced = !isFenced
    if (isFence(line) || isFenced || isRule(line)) continue
    const plain = withoutMarks(line)
    if (plain.length >= shortest) return plain.length <= most ? plain : `${plain.slice(0, most - 1).trimEnd()}…`
  }
  return undefined
}

const mostSigns = 600
const shortest = 4

const isFence = (line: string) => /^\s*(```|~~~)/.test(line)
const isRule = (line: string) => /^\s*([-*_=]\s*){3,}$/.test(line)

const withoutMarks = (line: string) =>
  line
    .slice(0, 1_000)
    .replace(/^\s*(#{1,6}\s+|>\s*|[-*+]\s+(\[[ xX]\]\s+)?|\d{1,3}[.)]\s+)+/, '')
    .replaceAll(/!?\[([^\][]*)\]\([^()]*\)/g, '$1')
    .replaceAll(/(\*\*|__|~~|`+)/g, '')
    .replaceAll(/(?<=^|\W)[*_](?=\S)|(?<=\S)[*_](?=\W|$)/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()

const headingWords = /^(final\s+|executive\s+)?(summary|what (i|was) (did|done|changed)|zusammenfassung|tl;?dr)$/i

/** The part below the last heading of that name, up to the next heading of its rank. */
function ownSummary(text: string): string | undefined {
  const lines = text.split('\n')
  let found: { from: number; rank: number; rest: string } | undefined
  let isFenced = false
  let end = lines.length
  for (const [i, line] of lines.entries()) {
    if (isFence(line)) isFenced = !isFenced
    const heading = isFenced ? undefined : headingOf(line)
    if (!heading) continue
    if (headingWords.test(heading.words)) {
      found = { from: i + 1, rank: heading.rank, rest: heading.rest }
      end = lines.length
    } else if (found && end === lines.length && heading.rank <= found.rank) end = i
  }
  if (!found) return undefined
  const part = [found.rest, ...lines.slice(found.from, end)].join('\n').trim()
  return part === '' ? undefined : part
}

/** `## Summary`, `**Summary**`, `**Summary:** and so on`, `Summary:`. A bold line ranks below every heading. */
function headingOf(line: string): { words: string; rank: number; rest: string } | undefined {
  const marked = /^ {0,3}(#{1,6})(?=\s)/.exec(line)
  if (marked) {
    const words = withoutClosing(line.slice(marked[0].length))
    return words === '' || words.length > longestHeading ? undefined : { words: named(words), rank: marked[1]!.length, rest: '' }
  }
  const bold = /^ {0,3}(\*\*|__)([^*_]{1,60})\1\s*:?\s*(.*)$/s.exec(line)
  if (bold) return { words: named(bold[2]!), rank: 7, rest: bold[3]! }
  const plain = /^([A-Za-z; ]{1,40}):\s*$/.exec(line)
  return plain ? { words: named(plain[1]!), rank: 7, rest: '' } : undefined
}
const longestHeading = 200

/** Counted by hand: one pattern for words, spaces, number signs and spaces again took half a minute for a line of 1,000 signs. */
function withoutClosing(written: string): string {
  const words = written.trim()
  let end = words.length
  while (end > 0 && words[end - 1] === '#') end--
  return words.slice(0, end).trimEnd()
}

const named = (words: string) =>
  words
    .replaceAll(/[*_`]/g, '')
    .replace(/[\s:.]+$/, '')
    .replace(/^[^\p{L}]+/u, '')
    .trim()

/** At the end of a paragraph, of a line, of a sentence or of a word, in this order; never in the middle of a block of code. */
function cutWell(text: string, most: number): string {
  if (text.length <= most) return text
  const head = text.slice(0, most - 1)
  const fences = [...head.matchAll(/^\s*(```|~~~)/gm)]
  // A block that is begun and not ended in what is left goes with it.
  const open = fences.length % 2 === 1 ? fences.at(-1)!.index : undefined
  const safe = open !== undefined && open > 0 ? head.slice(0, open).trimEnd() : head
  if (open !== undefined && open > 0) return `${safe}\n…`
  const paragraph = safe.lastIndexOf('\n\n')
  if (paragraph > most / 2) return `${safe.slice(0, paragraph).trimEnd()}\n…`
  const sentence = [...safe.matchAll(/[.!?。]["')\]]?(?=\s)|\n/g)].at(-1)
  if (sentence && sentence.index > most / 3) return `${safe.slice(0, sentence.index + sentence[0].trimEnd().length).trimEnd()} …`
  const word = safe.lastIndexOf(' ')
  return `${safe.slice(0, word > most / 2 ? word : undefined).trimEnd()}…`
}
