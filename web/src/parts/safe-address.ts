const followed: readonly string[] = ['https:', 'http:', 'mailto:']

/** Only addresses that a click may follow: never a script, a file, or the daemon itself, to which the click would be this browser's own. */
export function safeAddress(href: string, ownOrigin: string): string | undefined {
  const url = URL.parse(href)
  return url && followed.includes(url.protocol) && url.origin !== ownOrigin ? url.href : undefined
}

/** Where a link leads, if its text does not begin with it: the text may name another host. */
export function unsaidTarget(text: string, href: string): string | undefined {
  const { protocol, host, pathname } = new URL(href)
  if (protocol === 'mailto:') return text === pathname || text === href ? undefined : pathname
  const isSaid = [`${protocol}//${host}`, host].some((said) => text === said || text.startsWith(`${said}/`))
  return isSaid ? undefined : host
}
