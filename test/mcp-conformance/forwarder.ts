import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * The suite has no way to send a token. This passes everything on as it is, streams included, and adds one. What is said of the address is said of ours, so that
 * the daemon is asked under its own name, and under a foreign one where the suite tries that.
 */
export async function startForwarder(to: string, token: string): Promise<{ url: string; stop(): Promise<void> }> {
  const target = new URL(to)
  const server = createServer((incoming, answer) => {
    const here = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const named = (value: string | undefined) => value?.replace(here, target.host)
    const sent = request(
      {
        host: target.hostname,
        port: target.port,
        method: incoming.method,
        path: incoming.url,
        headers: {
          ...incoming.headers,
          host: named(incoming.headers.host),
          ...(incoming.headers.origin === undefined ? {} : { origin: named(incoming.headers.origin) }),
          authorization: `Bearer ${token}`,
        },
      },
      (came) => {
        answer.writeHead(came.statusCode ?? 502, came.headers)
        answer.flushHeaders()
        came.pipe(answer)
      },
    )
    sent.on('error', () => answer.destroy())
    answer.on('close', () => sent.destroy())
    incoming.pipe(sent)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
