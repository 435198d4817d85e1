import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A provider that answers at once, in the formats of Anthropic and of Chat Completions, whole or streamed. Prints where it listens. */
const text = 'Everything is in order; nothing was changed.'
const message = {
  id: 'msg_bench',
  type: 'message',
  role: 'assistant',
  model: 'bench-model',
  content: [{ type: 'text', text }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 120, output_tokens: 15, cache_read_input_tokens: 40, cache_creation_input_tokens: 0 },
}
const events: object[] = [
  { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...text.split(' ').map((word) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: `${word} ` } })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 15 } },
  { type: 'message_stop' },
]
const frames = events.map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`)
const whole = JSON.stringify(message)

const server = createServer((request, response) => {
  let asked = ''
  request.setEncoding('utf8')
  request.on('data', (part: string) => {
    asked += part
  })
  request.on('end', () => {
    if (!asked.includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(whole) }).end(whole)
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    // Some want to see what a stream costs that stays open.
    const isHeld = asked.includes('"user_id":"hold"')
    for (const frame of isHeld ? frames.slice(0, 4) : frames) response.write(frame)
    if (!isHeld) response.end()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`))
