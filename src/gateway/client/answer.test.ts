import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { ClientAnswer } from './answer.ts'

/** What a client got by `say`, and by how many writes to its connection. */
async function answered(say: (answer: ClientAnswer) => Promise<void>): Promise<{ said: string; writes: number }> {
  let writes = 0
  const server = createServer((_, response) => {
    countWrites(response.socket!, () => writes++)
    void say(new ClientAnswer(response))
  })
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const asked = get({ port: (server.address() as AddressInfo).port, agent: false })
  const [response] = await once(asked, 'response')
  return { said: await text(response), writes }
}

function countWrites(socket: Socket, count: () => void): void {
  const { _write, _writev } = socket
  socket._write = (...args) => {
    count()
    _write.apply(socket, args)
  }
  socket._writev = (...args) => {
    count()
    _writev!.apply(socket, args)
  }
}

test('frames that came together leave together, with the head before and the end behind them', async () => {
  const { said, writes } = await answered(async (answer) => {
    answer.head(200, ['content-type', 'text/event-stream'])
    answer.write('data: 1\n\n')
    answer.write(Buffer.from('data: 2\n\n'))
    await new Promise<void>((resolve) => process.nextTick(resolve))
    answer.end()
  })
  expect(said).toBe('data: 1\n\ndata: 2\n\n')
  expect(writes).toBe(1)
})

test('what comes first does not wait for what comes later', async () => {
  const { said, writes } = await answered(async (answer) => {
    answer.head(200, ['content-type', 'text/event-stream'])
    for (const n of [1, 2, 3]) {
      answer.write(`data: ${n}\n\n`)
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    answer.end()
  })
  expect(said).toBe('data: 1\n\ndata: 2\n\ndata: 3\n\n')
  expect(writes).toBe(4)
})
