/** The beginning of an error without what differs from time to time: ids, times, numbers, folders for the moment. What is left says what kind of error it is. */
export function normalised(text: string, mostChars = 200): string {
  return masks
    .reduce((masked, [pattern, mark]) => masked.replace(pattern, mark), text.slice(0, 4 * mostChars))
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, mostChars)
}

const masks: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>'],
  [/\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?/g, '<time>'],
  [/\b\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\b/g, '<time>'],
  [/(?:\/private)?\/(?:tmp|var\/tmp|var\/folders|dev\/shm)\/[^\s'":)\]]+/g, '<temp>'],
  [/\b[a-z]{2,12}_[A-Za-z0-9]{8,}\b/g, '<id>'],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b/gi, '<id>'],
  [/\b0x[0-9a-f]+\b/gi, '<number>'],
  [/\d+(?:[.,]\d+)*/g, '<number>'],
]
