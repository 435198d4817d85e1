/** Ollama's images are bare bytes; what they are is in the first of them. */
export function mediaTypeOf(base64: string): string {
  const known = Object.entries(beginnings).find(([beginning]) => base64.startsWith(beginning))
  return known?.[1] ?? 'image/png'
}

/** The first bytes of each kind, in base 64. */
const beginnings: Readonly<Record<string, string>> = {
  iVBORw0KGgo: 'image/png',
  '/9j/': 'image/jpeg',
  R0lGOD: 'image/gif',
  UklGR: 'image/webp',
}
