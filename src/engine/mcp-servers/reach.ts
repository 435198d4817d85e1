import type { Log } from '../../base/log.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import { readRules } from '../../sandbox/egress/host-rule.ts'
import { type NetworkEvent, openNetwork } from '../../sandbox/egress/network.ts'
import type { ServerWay } from '../../tools/servers/port.ts'

/**
 * The way to a server's own host. Who writes its address into the settings means that it may be reached, on this machine too; what `network.deny` of the profile
 * names is refused all the same. `others` are public hosts that it sends Pawl to, to be let in.
 */
export function reachServer(
  url: URL,
  {
    others,
    profile,
    record,
    log,
  }: {
    readonly others: boolean
    readonly profile: Pick<Profile, 'name' | 'network'>
    record(event: NetworkEvent): void
    readonly log: Log
  },
): ServerWay {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const isAddress = /^[\d.]+$|^\[/.test(url.hostname)
  const own = `${url.hostname}:${port}${isAddress ? '' : ' local'}`
  const network = openNetwork({
    profile: profile.name,
    rules: readRules({ allow: [own, ...(others ? ['*:443', '*:80'] : [])], ask: [], deny: profile.network.deny }),
    ask: async () => undefined,
    record,
    log,
  })
  return { open: (host, at) => network.open(host, at, 'fetch'), close: network.close }
}
