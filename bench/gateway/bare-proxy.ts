import { Agent, createServer, type RequestListener, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { endWith } from '../../src/gateway/base/one-write.ts'

/** The least that can stand between a client and a provider in Node: it hands on, and reads, checks, counts and stores nothing. Prints where it listens. */
const upstream = new URL(process.argv[2] ?? '')
const agent = new Agent({ keepAlive: true, scheduling: 'lifo' })

const handOn: RequestListener = async (asked, answer) => {
  const body = await buffer(asked)
  const headers = { 'content-type': 'application/json', 'content-length': body.length }
  const sent = request(new URL(asked.url ?? '', upstream), { agent, method: 'POST', headers }, async (got) => {
    if (got.headers['content-type'] === 'text/event-stream') {
      answer.writeHead(got.statusCode ?? 502, { 'content-type': 'text/event-stream' })
      got.pipe(answer)
      return
    }
    const whole = await buffer(got)
    answer.writeHead(got.statusCode ?? 502, { 'content-type': got.headers['content-type'], 'content-length': whole.length })
    endWith(answer, whole)
  })
  sent.on('error', () => answer.destroy())
  endWith(sent, body)
}

const server = createServer(handOn)
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`))
