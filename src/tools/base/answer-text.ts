/** The most characters that an answer of a tool has: what is longer would push everything else out of the model's memory. */
export const longestAnswer = 30_000

/** Keeps the beginning and the end, and says how much is missing between them. */
export function withoutMiddle(text: string, most: number = longestAnswer): string {
  if (text.length <= most) return text
  const half = Math.floor(most / 2)
  const [head, tail] = [text.slice(0, half).replace(/[\ud800-\udbff]$/, ''), text.slice(-half).replace(/^[\udc00-\udfff]/, '')]
  return `${head}\n… ${text.length - head.length - tail.length} characters left out …\n${tail}`
}

/** Keeps whole items as long as they fit. */
export function asManyAsFit(items: readonly string[], most: number = longestAnswer): { text: string; left: number } {
  let size = 0
  const kept = items.findIndex((item) => {
    size += item.length + 1
    return size > most
  })
  const shown = kept === -1 ? items : items.slice(0, kept)
  return { text: shown.join('\n'), left: items.length - shown.length }
}

export const isBinary = (bytes: Uint8Array) => bytes.subarray(0, 8_192).includes(0)
