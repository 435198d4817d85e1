/**
 * A receiver of webhooks in a process of its own, which is as good or as bad as the path says: /ok /status/N /hang /redirect /slow /reset /flood /flaky/N (which fails N times
 * for each id). It tells its parent of every request.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
}

const seen = new Map<string, number>()

const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (part: string) => {
    body += part
  })
  request.on('end', () => {
    const path = request.url ?? ''
    process.send?.({ path, headers: request.headers, body })
    const [, kind = '', number = ''] = path.split('/')
    const id = String(request.headers['webhook-id'])
    seen.set(id, (seen.get(id) ?? 0) + 1)
    const answer = (status: number, headers: Record<string, string> = {}) => response.writeHead(status, headers).end('thanks')
    if (kind === 'status') answer(Number(number))
    else if (kind === 'redirect') answer(302, { location: '/ok' })
    else if (kind === 'busy') answer(429, { 'retry-after': '120' })
    else if (kind === 'reset') request.socket.destroy()
    else if (kind === 'slow') setTimeout(() => answer(200), 300)
    else if (kind === 'flaky') answer((seen.get(id) ?? 0) > Number(number) ? 204 : 503)
    else if (kind === 'flood') {
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      }
      response.on('drain', more)
      more()
    } else if (kind !== 'hang') answer(200)
  })
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit())
