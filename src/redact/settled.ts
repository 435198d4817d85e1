/**
 * How much of a text that still grows can be searched for the shapes of secrets as if it were whole: what it ends with may be the beginning of one. The last word
 * waits for its end, with whatever must stand before a secret, and so does a private key.
 */
export function settledLength(text: string): number {
  const least = Math.max(0, text.length - longestWord)
  let word = text.length
  while (word > least && isOfKey.test(text[word - 1]!)) word--
  const before = text.slice(Math.max(0, word - longestLead), word)
  word -= lead.exec(before)?.[0].length ?? 0
  const key = text.lastIndexOf('-----BEGIN')
  return key >= 0 && !text.includes('-----END', key) ? Math.min(key, word) : word
}

/** No token that anybody writes is longer; a longer word without an end is shown as it comes, searched like all of it. */
const longestWord = 4_096
const longestLead = 100
const isOfKey = /[\w.~+/=-]/
const lead = /(?:authorization\\?["']?\s*[:=]\s*\\?["']?)?(?:bearer|basic|token)\s+$/i
