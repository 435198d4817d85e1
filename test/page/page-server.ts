import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readPage } from '../../src/surfaces/http/page-files.ts'

/** Serves the built page alone, as one daemon would and then as a newer one: its shell has another title, and its worker another name for the whole. */
export async function startPageServer() {
  const page = readPage()
  if (!page) throw new Error('the page was not built')
  let isNewer = false
  const renewed = (path: string, text: string) =>
    !isNewer
      ? text
      : path === '/service-worker.js'
        ? text.replace(/"version":"/, '"version":"newer-')
        : text.replace('<title>Pawl</title>', '<title>Pawl, newer</title>')
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://page').pathname
    const file = page.files.get(path) ?? (path === '/' ? page.shell : undefined)
    if (!file) return void response.writeHead(503).end()
    const isText = path === '/' || path === '/service-worker.js'
    const body = isText ? renewed(path, Buffer.from(file.content).toString()) : Buffer.from(file.content)
    response.writeHead(200, { 'content-type': file.type, 'cache-control': 'no-cache' }).end(body)
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    upgrade: () => {
      isNewer = true
    },
    stop: () =>
      new Promise<void>((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}
