import type { RequestListener } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { createFetcher } from './fetch.ts'
import { decide, readRules } from './host-rule.ts'
import { startCanary, startWebServer } from './testing.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function site(serve: RequestListener) {
  const server = await startWebServer(serve)
  closers.push(server.close)
  return server
}

/** `site.example` leads to this machine and may; `loops.example` leads there and may not. */
function fetcher(port: number) {
  const rules = readRules({ allow: [`site.example:${port} local`, '*', `*:${port}`], ask: ['asked.example'], deny: [] })
  return createFetcher({ decide: (host, at) => decide(rules, host, at), resolve: async () => ['127.0.0.1'] })
}

describe('a page that is read for an agent', () => {
  it('comes as text, whatever its letters and its packing', async () => {
    const pages: Record<string, { type: string; body: Buffer; packed?: string }> = {
      '/plain': { type: 'text/plain; charset=utf-8', body: Buffer.from('grün') },
      '/latin': { type: 'text/html; charset=ISO-8859-1', body: Buffer.from('grün', 'latin1') },
      '/gzip': { type: 'application/json', body: gzipSync('grün'), packed: 'gzip' },
      '/br': { type: 'application/problem+json', body: brotliCompressSync('grün'), packed: 'br' },
      '/odd': { type: 'text/plain; charset=no-such', body: Buffer.from('grün') },
    }
    const { port } = await site((request, response) => {
      const page = pages[request.url ?? '']!
      response
        .writeHead(200, { 'content-type': page.type, ...(page.packed ? { 'content-encoding': page.packed } : {}) })
        .end(page.body)
    })
    for (const path of Object.keys(pages))
      expect(await fetcher(port)(`http://site.example:${port}${path}`)).toEqual({
        url: `http://site.example:${port}${path}`,
        status: 200,
        type: pages[path]!.type,
        text: 'grün',
        isCut: false,
      })
  })

  it('is followed where it was moved to, as far as the rules allow each step', async () => {
    const canary = await startCanary()
    closers.push(canary.close)
    const { port } = await site((request, response) => {
      const to = new URL(request.url ?? '', 'http://x').searchParams.get('to')
      if (to) response.writeHead(302, { location: to }).end()
      else response.end('arrived')
    })
    const get = (to: string) => fetcher(port)(`http://site.example:${port}/?to=${encodeURIComponent(to)}`)
    expect(await get('/there')).toMatchObject({ text: 'arrived', url: `http://site.example:${port}/there` })
    const inward = [
      `127.0.0.1:${canary.port}`,
      `0x7f.1:${canary.port}`,
      `[::ffff:127.0.0.1]:${canary.port}`,
      `loops.example:${port}`,
    ]
    for (const host of inward) await expect(get(`http://${host}/`)).rejects.toMatchObject({ code: 'denied' })
    for (const other of ['file:///etc/passwd', 'unix:/run/x.sock', 'http://user:word@site.example/', 'data:text/plain,x'])
      await expect(get(other)).rejects.toMatchObject({ code: 'invalid' })
    expect(canary.reached()).toBe(0)
  })

  it('is not followed in circles', async () => {
    let asked = 0
    const { port } = await site((_, response) => {
      asked++
      response.writeHead(301, { location: '/again' }).end()
    })
    await expect(fetcher(port)(`http://site.example:${port}/`)).rejects.toThrow('more than 5 times')
    expect(asked).toBe(6)
  })

  it('is cut at five megabytes, also if it only unpacks to that', async () => {
    const big = gzipSync(Buffer.alloc(50 * 1024 * 1024, 'x'))
    const { port } = await site((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(big)
    })
    const { text, isCut } = await fetcher(port)(`http://site.example:${port}/`)
    expect([text.length, isCut]).toEqual([5 * 1024 * 1024, true])
  })

  it('is refused when it is no text, not allowed, or to be asked for', async () => {
    const { port } = await site((_, response) => response.writeHead(200, { 'content-type': 'image/png' }).end('x'))
    await expect(fetcher(port)(`http://site.example:${port}/`)).rejects.toThrow('"image/png", which is no text')
    await expect(fetcher(port)('http://asked.example/')).rejects.toThrow('network.ask names it')
    await expect(fetcher(port)('http://site.example:1/')).rejects.toMatchObject({ code: 'denied' })
    await expect(fetcher(port)('ftp://site.example/')).rejects.toMatchObject({ code: 'invalid' })
  })

  it('is given up when whoever wanted it does, and when it breaks off', async () => {
    const begun = Promise.withResolvers<void>()
    const { port } = await site((request, response) => {
      if (request.url === '/breaks') response.writeHead(200, { 'content-length': '100' }).write('x', () => response.destroy())
      else begun.resolve()
    })
    const controller = new AbortController()
    const given = fetcher(port)(`http://site.example:${port}/`, { signal: controller.signal })
    await begun.promise
    controller.abort()
    await expect(given).rejects.toMatchObject({ code: 'unavailable' })
    await expect(fetcher(port)(`http://site.example:${port}/breaks`)).rejects.toThrow('broke off')
  })
})
