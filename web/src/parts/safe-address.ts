const followed: readonly string[] = ['https:', 'http:', 'mailto:']

/** Only addresses that a click may follow: never a script, a file, or the daemon itself, to which the click would be this browser's own. */
export function safeAddress(href: string, ownOrigin: string): string | undefined {
  const url = URL.parse(href)
  return url && followed.includes(url.protocol) && url.origin !== ownOrigin ? url.href : undefined
}
