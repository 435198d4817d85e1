import { describe, expect, it } from 'vitest'
import { findTarget } from './address.ts'
import { classOf } from './address-class.ts'
import { decide, readRules } from './host-rule.ts'

describe('an address', () => {
  it.each([
    [
      'public',
      '93.184.215.14',
      '1.1.1.1',
      '172.15.0.1',
      '172.32.0.1',
      '100.63.0.1',
      '100.128.0.1',
      '2606:4700::1111',
      '64:ff9b::5db8:d70e',
    ],
    [
      'local',
      '127.0.0.1',
      '127.255.255.254',
      '10.1.2.3',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.0.1',
      '100.64.0.1',
      '::1',
      'fd12::1',
      '192.0.2.1',
      '198.18.0.1',
      '203.0.113.9',
      '2001:db8::1',
    ],
    ['special', '0.0.0.0', '0.1.2.3', '169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192'],
    [
      'special',
      '224.0.0.1',
      '239.1.1.1',
      '240.0.0.1',
      '255.255.255.255',
      '::',
      'fe80::1',
      'ff02::1',
      'fd00:ec2::254',
      'fd20:ce::254',
    ],
    [
      'special',
      '::ffff:127.0.0.1',
      '::ffff:8.8.8.8',
      '::ffff:a9fe:a9fe',
      '::127.0.0.1',
      '::8.8.8.8',
      '2002:7f00:1::',
      '2002:808:808::1',
    ],
    ['special', '2001:0:1::1', '64:ff9b::7f00:1', '64:ff9b::a9fe:a9fe', '64:ff9b::1', '64:ff9b:1::1', '3fff::1', '100::1'],
    ['special', 'fe80::1%lo', 'localhost', '127.1', '', '5f00::1', 'fec0::1'],
  ] as const)('is %s', (kind, ...addresses) => {
    for (const address of addresses) expect([address, classOf(address)]).toEqual([address, kind])
  })
})

describe('the addresses of an allowed host', () => {
  const decision = (rule: string, host: string) => decide(readRules({ allow: [rule], ask: [], deny: [] }), host, 443)
  const found = (rule: string, host: string, addresses: string[]) => findTarget(decision(rule, host), async () => addresses)

  it('are looked up once and all of them checked', async () => {
    expect((await found('a.example', 'a.example', ['93.184.215.14', '2606:4700::1111'])).addresses).toHaveLength(2)
    for (const inner of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::ffff:10.0.0.1', '0.0.0.0'])
      await expect(found('a.example', 'a.example', ['93.184.215.14', inner])).rejects.toMatchObject({ code: 'denied' })
    await expect(found('a.example', 'a.example', [])).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('may be private ones where the rule says so, but never those of metadata services', async () => {
    expect((await found('a.corp local', 'a.corp', ['10.0.0.1'])).addresses).toEqual(['10.0.0.1'])
    await expect(found('a.corp', 'a.corp', ['10.0.0.1'])).rejects.toThrow('"a.corp:443 local" in network.allow')
    await expect(found('a.corp local', 'a.corp', ['169.254.169.254'])).rejects.toMatchObject({ code: 'denied' })
  })
})
