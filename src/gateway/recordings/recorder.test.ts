import { expect, test } from 'vitest'
import { createRedactor } from '../../redact/redactor.ts'
import { bytesOf } from './frames.ts'
import { readRecording } from './read.ts'
import { createTape } from './recorder.ts'

/** A recording in memory, with a clock that is set by hand. */
function taped({ maxBytes = 1_000_000_000, secrets = {} as Record<string, string> } = {}) {
  const redactor = createRedactor()
  for (const [name, value] of Object.entries(secrets)) redactor.add(name, value)
  let text = ''
  let ms = 0
  const full: string[] = []
  const tape = createTape({
    write: (line) => (text += line),
    redactor,
    monotonic: () => ms,
    maxBytes,
    onFull: (why) => full.push(why),
  })
  tape.line({ type: 'recording', version: 1, run: 'r', task: 't', at: '', agent: 'a', adapter: 'x' })
  let number = 0
  const call = (body: unknown, answer: readonly string[] = [], headers: Record<string, string> = {}) => {
    const ask = { number: ++number, method: 'POST', path: '/v1/messages', headers, body: Buffer.from(JSON.stringify(body)) }
    const recorder = tape.begin(ask)
    recorder.head(200, { 'content-type': 'text/event-stream', 'set-cookie': 'sweet' })
    for (const chunk of answer) {
      ms += 10
      recorder.chunk(Buffer.from(chunk))
    }
    recorder.end('whole')
  }
  return { tape, call, full, text: () => text, read: () => readRecording(text, 'it') }
}

const answered = (frames: Parameters<typeof bytesOf>[0]) => Buffer.concat([...bytesOf(frames)]).toString()
const delta = (text: string) =>
  `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })}\n\n`

test('two hundred requests of a conversation that grows to a megabyte take little more than the conversation', () => {
  const { call, text, read, tape } = taped()
  const messages: unknown[] = []
  let sent = 0
  for (let at = 0; at < 200; at++) {
    messages.push({ role: at % 2 ? 'assistant' : 'user', content: `${at} ${'x'.repeat(5_000)}` })
    const body = { model: 'm', tools: [{ name: 'Bash', description: 'y'.repeat(20_000) }], messages }
    sent += JSON.stringify(body).length
    call(body)
  }
  tape.end()
  expect(sent).toBeGreaterThan(100_000_000)
  expect(text().length).toBeLessThan(1_500_000)
  const { body } = read().calls[199]!
  expect(body).toMatchObject({ fields: { model: 'm' }, order: ['model', 'tools', 'messages'] })
  expect('text' in body ? [] : [body.pieces.messages ?? []].flat().map(({ value }) => value)).toEqual(messages)
})

test('an answer is kept event by event, each with the time of its last byte, and comes back byte for byte', () => {
  const { call, read } = taped()
  const [one, other] = [delta('grüße '), delta('an alle')]
  call({ model: 'm' }, [one.slice(0, 20), `${one.slice(20)}${other.slice(0, 5)}`, other.slice(5)])
  const { answer } = read().calls[0]!
  expect(answer?.frames).toEqual([
    [20, one],
    [30, other],
  ])
  expect(answered(answer!.frames)).toBe(one + other)
})

test('a secret in a request or an answer is kept nowhere, however it was cut on its way', () => {
  const secret = 'correct-horse-battery-staple'
  const { call, text, read } = taped({ secrets: { MY_KEY: secret } })
  const whole = `data: ${JSON.stringify({ note: secret })}\n\n`
  call(
    {
      model: 'm',
      messages: [{ role: 'user', content: `it is ${secret}` }],
      system: `${'z'.repeat(300)} ${secret}`,
      user: secret,
    },
    [whole.slice(0, 20), whole.slice(20), delta('it is correct-ho'), delta('rse-bat'), delta('tery-staple, you said')],
    { authorization: `Bearer ${secret}`, 'x-api-key': secret, 'content-type': 'application/json' },
  )
  expect(text()).not.toContain(secret)
  expect(text()).not.toContain('rse-bat')
  const { headers, answer } = read().calls[0]!
  expect(headers).toEqual({ 'content-type': 'application/json' })
  expect(answer?.headers).toEqual({ 'content-type': 'text/event-stream' })
  expect(answered(answer!.frames)).toContain('it is [redacted:MY_KEY], you said')
})

test('a recording that has reached its bound stops, says so, and is still one', () => {
  const { call, full, read, tape } = taped({ maxBytes: 2_000 })
  call({ model: 'm', messages: [{ role: 'user', content: 'a' }] }, ['{"text":"b"}'])
  call({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(3_000) }] }, ['{"text":"c"}'])
  call({ model: 'm', messages: [{ role: 'user', content: 'later' }] }, ['{"text":"d"}'])
  tape.end()
  expect(full).toHaveLength(1)
  expect(read()).toMatchObject({ calls: [{ number: 1 }], end: { stopped: full[0] } })
})

test('what a crash left of a recording is read up to the last whole line', () => {
  const { call, text } = taped()
  call({ model: 'm' }, ['{"text":"b"}'])
  const whole = text()
  expect(readRecording(whole.slice(0, -7), 'it').calls[0]).toMatchObject({ number: 1 })
  expect(() => readRecording(`${whole}{"type":"answer"}\n${whole}`, 'f.jsonl')).toThrow(/f\.jsonl is no recording .* line 4/)
  expect(() => readRecording('', 'f.jsonl')).toThrow('f.jsonl is no recording: it is empty.')
})
