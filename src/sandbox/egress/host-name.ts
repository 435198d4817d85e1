import { isIPv4, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'

/** A host in the one form in which it is compared, resolved and shown. */
export interface Host {
  readonly name: string
  readonly kind: 'name' | 'address'
}

const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
/** What the C library and browsers take for a part of an address, whatever stands before it. */
const numeric = /^(?:[0-9]+|0x[0-9a-f]*)$/

/**
 * Reads the host that a client named. Only what everybody understands alike is a host: a resolver that stops at a NUL, decodes a percent sign or reads `0x7f.1` as an
 * address must never be given what we compared as text. Undefined for all else.
 */
export function readHost(text: string): Host | undefined {
  if (text.startsWith('[') && text.endsWith(']')) return readIPv6(text.slice(1, -1))
  if (isIPv4(text)) return { name: text, kind: 'address' }
  const name = text.toLowerCase().replace(/\.$/, '')
  if (name.length === 0 || name.length > 253) return undefined
  const labels = name.split('.')
  if (!labels.every((part) => label.test(part)) || numeric.test(labels.at(-1)!)) return undefined
  return { name, kind: 'name' }
}

/** Reads the host that a person wrote: their letters may be those of any script. */
export function readWrittenHost(text: string): Host | undefined {
  if (/^[\x21-\x7e]+$/.test(text)) return readHost(text)
  const ascii = /[\x00-\x20\x7f%@/\\?#:[\]]/.test(text) ? '' : domainToASCII(text)
  const host = readHost(ascii)
  // Digits of other scripts become an address here, which nobody would see in what was written.
  return host?.kind === 'name' ? host : undefined
}

/** `host:port`, as CONNECT and rules have it; an IPv6 address stands in brackets. */
export function splitAuthority(text: string): { host: string; port: string | undefined } | undefined {
  const parts = /^(\[[^\]]*\]|[^:[\]]*)(?::([0-9]{1,5}))?$/s.exec(text)
  return parts ? { host: parts[1]!, port: parts[2] } : undefined
}

export function readPort(text: string): number | undefined {
  if (!/^[1-9][0-9]{0,4}$/.test(text)) return undefined
  const port = Number(text)
  return port <= 65_535 ? port : undefined
}

/** As it stands in an address line: `[::1]:80`, `example.org:80`. */
export const authorityOf = (host: string, port: number) => `${host.includes(':') ? `[${host}]` : host}:${port}`

function readIPv6(text: string): Host | undefined {
  if (!isIPv6(text) || text.includes('%')) return undefined
  return { name: new URL(`http://[${text}]`).hostname.slice(1, -1), kind: 'address' }
}
