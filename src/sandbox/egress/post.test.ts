import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Receiver, startReceiver } from '../../../test/receiver/receiver.ts'
import { post } from './post.ts'
import { hosts, names, startCanary } from './testing.ts'

const signal = () => AbortSignal.timeout(5_000)
const body = '{"hello":"you"}'

describe('a receiver outside', () => {
  let canary: Awaited<ReturnType<typeof startCanary>>
  beforeAll(async () => {
    canary = await startCanary()
  })
  afterAll(() => canary.close())

  it(`is never this machine or its network, in any of ${hosts.length} ways to write that`, async () => {
    const resolve = async (name: string) => names[name] ?? []
    for (const host of hosts) {
      const url = URL.parse(`https://${host}:${canary.port}/`)?.href
      // What is no address at all is refused when the settings are read.
      if (url === undefined || url.includes('@')) continue
      const outcome = await post({ url, allowPrivate: false }, { headers: {}, body, signal: signal(), resolve }).catch(
        (error: Error) => error.message,
      )
      expect([host, outcome]).toEqual([host, expect.stringMatching(/leads to|no address|no host/)])
    }
    expect(canary.reached()).toBe(0)
  })

  it('is spoken to without TLS only if its owner says so', async () => {
    const url = `http://127.0.0.1:${canary.port}/`
    await expect(post({ url, allowPrivate: false }, { headers: {}, body, signal: signal() })).rejects.toThrow(/use https/)
    expect(canary.reached()).toBe(0)
  })

  it('is never a metadata service, whatever its owner says', async () => {
    for (const host of ['169.254.169.254', '[fd00:ec2::254]', '100.100.100.200'])
      await expect(
        post({ url: `http://${host}/latest`, allowPrivate: true }, { headers: {}, body, signal: signal() }),
      ).rejects.toThrow(/nothing of Pawl may reach/)
  })
})

describe('a receiver that its owner permits', () => {
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await startReceiver()
  })
  afterAll(() => receiver.stop())
  const send = (path: string) =>
    post({ url: receiver.url(path), allowPrivate: true }, { headers: { 'x-a': 'b' }, body, signal: signal() })

  it('gets the body and the headers as they are', async () => {
    expect(await send('/ok')).toEqual({ status: 200, retryAfterMs: undefined })
    await expect
      .poll(() => receiver.at('/ok'))
      .toMatchObject([{ body, headers: { 'x-a': 'b', 'content-type': 'application/json' } }])
  })

  it('is not followed elsewhere', async () => {
    expect(await send('/redirect')).toMatchObject({ status: 302 })
    expect(receiver.at('/ok')).toHaveLength(1)
  })

  it('is cut off when its answer has no end', async () => {
    expect(await send('/flood')).toMatchObject({ status: 200 })
  })

  it('is given up when it says nothing, or hangs up', async () => {
    const short = AbortSignal.timeout(200)
    const hang = post({ url: receiver.url('/hang'), allowPrivate: true }, { headers: {}, body, signal: short })
    await expect(hang).rejects.toThrow(/no answer in time/)
    await expect(send('/reset')).rejects.toThrow(/gave no answer/)
  })
})
