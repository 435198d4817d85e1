/** Headers that belong to one connection, not to the message; those of proxies are ours alone. */
const ofConnection = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'expect', 'host', 'http2-settings'],
])

/** A message's own headers, names and values in turn as Node has them, without those of the connection it came on. */
export function ownHeaders(raw: readonly string[]): string[] {
  const pairs = pairsOf(raw)
  const named = pairs.filter(([name]) => name.toLowerCase() === 'connection').flatMap(([, value]) => value.split(','))
  const dropped = new Set([...ofConnection, ...named.map((name) => name.trim().toLowerCase())])
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase())).flat()
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as [string, string]] : []))
}
