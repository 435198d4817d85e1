import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Sends ten events a second to whoever asks; stores nothing, checks nothing. Prints where it listens. */
const open = new Set<ServerResponse>()
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  open.add(response)
  response.on('close', () => open.delete(response))
})
let number = 0
setInterval(() => {
  const data = {
    seq: ++number,
    at: new Date().toISOString(),
    task: 't_0123456789abcdefgh',
    type: 'agent.message',
    data: { text: `at=${Date.now()};` },
  }
  const frame = `id: ${number}\ndata: ${JSON.stringify(data)}\n\n`
  for (const response of open) response.write(frame)
}, 100)
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`))
