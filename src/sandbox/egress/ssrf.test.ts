import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenedDoor, openDoor } from '../../engine/endpoint/testing.ts'
import { hosts, names, speak, startCanary, ways } from './testing.ts'

let canary: Awaited<ReturnType<typeof startCanary>>
let opened: OpenedDoor
const looked: string[] = []
beforeAll(async () => {
  const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))
  canary = await startCanary(['127.0.0.1', ...(hasIPv6 ? ['::1'] : [])])
  opened = await openDoor()
  const resolve = async (name: string) => {
    looked.push(name)
    return names[name] ?? []
  }
  await opened.bind({ allow: ['*', `*:${canary.port}`, `good.example:${canary.port}`] }, { resolve })
})
afterAll(async () => {
  await opened.door.close()
  await canary.close()
})

describe('with every host allowed, no address of this machine or its network is reached', () => {
  it(`by any of ${hosts.length} ways to write one, over HTTP, CONNECT, SOCKS 4a and SOCKS 5`, async () => {
    expect(hosts.length).toBeGreaterThanOrEqual(40)
    for (const host of hosts)
      for (const [name, way] of Object.entries(ways)) {
        const { opened: isOpen, text } = await way(opened.port, Buffer.from(host), canary.port)
        expect([host, name, isOpen, text.includes('canary')]).toEqual([host, name, false, false])
      }
    expect(canary.reached()).toBe(0)
    expect(looked.filter((name) => /^[0-9a-fx.]+$/.test(name))).toEqual([])
  })

  it('by its number in a SOCKS request', async () => {
    const port = [canary.port >> 8, canary.port & 255]
    const wishes = [
      [4, 1, ...port, 127, 0, 0, 1, 0],
      [4, 1, ...port, 0, 0, 0, 0, 0],
      [5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, ...port],
      [5, 1, 0, 5, 1, 0, 4, ...new Array(15).fill(0), 1, ...port],
      [5, 1, 0, 5, 1, 0, 4, ...new Array(10).fill(0), 255, 255, 127, 0, 0, 1, ...port],
    ]
    for (const wish of wishes) expect((await speak(opened.port, Buffer.from(wish))).text).toMatch(/^\0\x5b|^\x05\0\x05\x02/)
    expect(canary.reached()).toBe(0)
  })

  it('by another scheme, by the door itself, or by the headers of a request', async () => {
    const { port } = canary
    const requests = [
      ...[
        `GET https://127.0.0.1:${port}/`,
        `GET ftp://127.0.0.1:${port}/`,
        `GET ws://127.0.0.1:${port}/`,
        'GET unix:/run/docker.sock',
      ],
      ...['GET file:///etc/passwd', 'GET gopher://127.0.0.1/', `GET http:127.0.0.1:${port}/`, `GET http:///127.0.0.1:${port}/`],
      ...[
        `GET http://127.0.0.1:${port}\\@good.example/`,
        `CONNECT 127.0.0.1`,
        `CONNECT :${port}`,
        `CONNECT http://127.0.0.1:${port}`,
      ],
      ...[`CONNECT 127.0.0.1:${opened.port}`, `CONNECT localhost:${opened.port}`, `GET http://127.0.0.1:${opened.port}/v1/run`],
      ...[
        `GET http://good.example:${port}/ HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx-forwarded-host: 127.0.0.1`,
        `GET //127.0.0.1:${port}/`,
      ],
    ]
    for (const request of requests) {
      const line = request.includes(' HTTP/1.1') ? request : `${request} HTTP/1.1\r\nhost: 127.0.0.1:${port}`
      const { text } = await speak(opened.port, Buffer.from(`${line}\r\n\r\n`))
      expect([request, text]).toEqual([request, expect.stringMatching(/^HTTP\/1\.1 [45]/)])
    }
    expect(canary.reached()).toBe(0)
  })

  it('and the same canary is reached by every way as soon as a rule spells it out', async () => {
    await opened.bind({ allow: [`127.0.0.1:${canary.port}`] })
    for (const [name, way] of Object.entries(ways))
      expect([name, (await way(opened.port, Buffer.from('127.0.0.1'), canary.port)).text.includes('canary')]).toEqual([
        name,
        true,
      ])
    expect(canary.reached()).toBe(4)
  })
})
