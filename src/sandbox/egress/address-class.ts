import { BlockList, isIPv4, isIPv6 } from 'node:net'

/**
 * `local`: this machine or a private network, for those whom a rule sends there by name. `special`: metadata services, link-local, multicast and what is nobody's; never.
 */
export type AddressClass = 'public' | 'local' | 'special'

const special = ranges([
  // Metadata services that lie among ordinary addresses.
  ...['168.63.129.16/32', '100.100.100.200/32', 'fd00:ec2::254/128', 'fd20:ce::254/128'],
  // "This network" (which leads to the loopback on Linux), link-local, protocol assignments, 6to4 relays, multicast, reserved.
  ...['0.0.0.0/8', '169.254.0.0/16', '192.0.0.0/24', '192.88.99.0/24', '224.0.0.0/4', '240.0.0.0/4'],
])
const local = ranges([
  ...['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  ...['::1/128', 'fc00::/7'],
  // For documentation and benchmarks, it says; private networks and VPNs use them all the same.
  ...['192.0.2.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32'],
])
/** The only part of IPv6 that is given to networks, and what in it is not: protocol assignments with Teredo, 6to4, documentation. */
const global6 = ranges(['2000::/3'])
const notGlobal6 = ranges(['2001::/23', '2002::/16', '3fff::/20'])

/** What an address is. An IPv4 address in the clothes of IPv6 is never `local`, and public only where a translator (NAT64) made it from a public one. */
export function classOf(address: string): AddressClass {
  if (isIPv4(address)) return special.check(address) ? 'special' : local.check(address) ? 'local' : 'public'
  if (!isIPv6(address) || address.includes('%')) return 'special'
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  if (canonical.startsWith('::ffff:')) return 'special'
  const translated = /^64:ff9b::(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4})$/.exec(canonical)
  if (translated) return classOf(dotted(translated[1] ?? '0', translated[2]!)) === 'public' ? 'public' : 'special'
  if (special.check(canonical, 'ipv6')) return 'special'
  if (local.check(canonical, 'ipv6')) return 'local'
  return global6.check(canonical, 'ipv6') && !notGlobal6.check(canonical, 'ipv6') ? 'public' : 'special'
}

function dotted(high: string, low: string): string {
  const [upper, lower] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return [upper >> 8, upper & 255, lower >> 8, lower & 255].join('.')
}

function ranges(blocks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const block of blocks) {
    const [base = '', bits = ''] = block.split('/')
    list.addSubnet(base, Number(bits), base.includes(':') ? 'ipv6' : 'ipv4')
  }
  return list
}
