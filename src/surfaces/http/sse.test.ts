import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { fakeEntrance } from '../../../test/fake-entrance.ts'
import { bearer, exchange, type Listening, listening, request, token } from '../../../test/http-peer.ts'
import { silentLog } from '../../base/log.ts'
import { SseParser } from '../../client/transport/sse-parser.ts'
import type { NewEvent } from '../../domain/event/event.ts'
import { EventStreams } from './sse.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

async function peerWithTask(options: Parameters<typeof listening>[0] = {}) {
  const peer = await listening(options)
  stops.push(peer.surface.stop)
  const { task } = await peer.runtime.createTask({ prompt: 'p' }, { by: 'test' })
  return { ...peer, task: task.id }
}

const said = (text: string): NewEvent => ({ type: 'agent.message', data: { text } })
const completed: NewEvent = { type: 'task.completed', data: { verified: true } }
const requeued: NewEvent = { type: 'task.requeued', data: { why: 'again' } }
const blocked: NewEvent = { type: 'task.blocked', data: { kind: 'question' } }

const streamRequest = (peer: Listening, path: string, headers: string[] = []) =>
  request(`GET ${path}`, [`Host: 127.0.0.1:${peer.port}`, `Authorization: ${bearer}`, ...headers])

/** A reader with a socket of its own. */
function openStream(peer: Listening, path: string, headers: string[] = []) {
  const socket = connect(peer.port, '127.0.0.1')
  stops.push(() => socket.destroy())
  const state = { text: '', closed: false, cleanly: false }
  socket.write(streamRequest(peer, path, headers))
  socket.setEncoding('utf8').on('data', (part: string) => {
    state.text += part
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    state.closed = true
    state.cleanly = state.text.endsWith('\r\n0\r\n\r\n')
  })
  return { socket, state, events: () => eventsIn(state.text) }
}

/** The events in a raw answer; its chunk marks are lines the format ignores or never sees inside an event. */
function eventsIn(raw: string): number[] {
  const [, body = ''] = raw.split(/\r\n\r\n(.*)/s)
  const text = body.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/g, '')
  return new SseParser().push(text).flatMap((message) => ('data' in message ? [JSON.parse(message.data).seq as number] : []))
}

test('a stream begins with the past, goes on live, and each event carries its number', async () => {
  const peer = await peerWithTask()
  const reader = openStream(peer, `/api/v1/tasks/${peer.task}/events`)
  await expect.poll(() => reader.events()).toEqual([1])
  peer.runtime.emit(peer.task, said('a'), said('b'))
  peer.runtime.emit(peer.task, said('c'))
  await expect.poll(() => reader.events()).toEqual([1, 2, 3, 4])
  expect(reader.state.text).toMatch(/^HTTP\/1\.1 200 /)
  expect(reader.state.text).toContain('Content-Type: text/event-stream; charset=utf-8')
  expect(reader.state.text).toContain('retry: 1000\n\n')
  expect(reader.state.text).toMatch(/id: 2\ndata: \{"seq":2,.*"type":"agent.message".*\}\n\n/)
})

test('Last-Event-ID resumes and wins over the query', async () => {
  const peer = await peerWithTask()
  peer.runtime.emit(peer.task, said('2'), said('3'), said('4'))
  const byHeader = openStream(peer, `/api/v1/tasks/${peer.task}/events?after=1`, ['Last-Event-ID: 3'])
  const byQuery = openStream(peer, `/api/v1/tasks/${peer.task}/events?after=2`)
  await expect.poll(() => byHeader.events()).toEqual([4])
  await expect.poll(() => byQuery.events()).toEqual([3, 4])
})

test('a number that is none is refused before the stream begins', async () => {
  const peer = await peerWithTask()
  for (const headers of [
    ['Last-Event-ID: x'],
    ['Last-Event-ID: -1'],
    ['Last-Event-ID: 1.5'],
    ['Last-Event-ID: 9007199254740993'],
  ]) {
    expect((await exchange(peer.port, streamRequest(peer, `/api/v1/tasks/${peer.task}/events`, headers))).status).toBe(400)
  }
})

test('a stream stays open after the task has come to rest, because a retry may come', async () => {
  const peer = await peerWithTask()
  const reader = openStream(peer, `/api/v1/tasks/${peer.task}/events`)
  peer.runtime.setState(peer.task, 'completed')
  peer.runtime.emit(peer.task, completed)
  await expect.poll(() => reader.events()).toEqual([1, 2])
  peer.runtime.emit(peer.task, requeued)
  await expect.poll(() => reader.events()).toEqual([1, 2, 3])
  expect(reader.state.closed).toBe(false)
})

test('until=rest ends with the resting event that nothing follows', async () => {
  const peer = await peerWithTask()
  peer.runtime.emit(peer.task, blocked, requeued)
  const reader = openStream(peer, `/api/v1/tasks/${peer.task}/events?until=rest`)
  await expect.poll(() => reader.events()).toEqual([1, 2, 3])
  expect(reader.state.closed).toBe(false)
  peer.runtime.setState(peer.task, 'completed')
  peer.runtime.emit(peer.task, said('done'), completed)
  await expect.poll(() => reader.state.closed).toBe(true)
  expect(reader.events()).toEqual([1, 2, 3, 4, 5])
  expect(reader.state.cleanly).toBe(true)
  expect(reader.state.text).toContain(': at rest\n\n')
})

test('until=rest on a task at rest ends after what is left to read', async () => {
  const peer = await peerWithTask()
  peer.runtime.setState(peer.task, 'completed')
  peer.runtime.emit(peer.task, completed)
  for (const [after, expected] of [
    [0, [1, 2]],
    [1, [2]],
    [2, []],
  ] as const) {
    const answer = await exchange(peer.port, streamRequest(peer, `/api/v1/tasks/${peer.task}/events?until=rest&after=${after}`))
    expect(eventsIn(answer.text)).toEqual(expected)
  }
})

test.for([
  ['viewer', false],
  ['operator', true],
] as const)('a run waits for somebody who attends only if they can answer: a %s', async ([standing, attends]) => {
  const authenticate = async () => ({ user: 'ann', standing, token: 't' })
  const peer = await peerWithTask({ entrance: { ...fakeEntrance(token), authenticate } })
  const follow = peer.runtime.followEvents
  const asked: unknown[] = []
  Object.assign(peer.runtime, {
    followEvents: (task: string, options: Parameters<typeof follow>[1]) => {
      asked.push(options.attends)
      return follow(task, options)
    },
  })
  openStream(peer, `/api/v1/tasks/${peer.task}/events?attends=true`)
  await expect.poll(() => asked).toEqual([attends])
})

test('a reader that goes away ends its follow', async () => {
  const peer = await peerWithTask()
  const reader = openStream(peer, `/api/v1/tasks/${peer.task}/events`)
  await expect.poll(() => peer.runtime.followers()).toBe(1)
  reader.socket.destroy()
  await expect.poll(() => peer.runtime.followers()).toBe(0)
})

test('a quiet stream beats every 15 seconds', async () => {
  const clock = steppedClock()
  const peer = await peerWithTask({ clock })
  const reader = openStream(peer, `/api/v1/tasks/${peer.task}/events`)
  await expect.poll(() => reader.events()).toEqual([1])
  clock.advance(15_000)
  clock.advance(15_000)
  await expect.poll(() => reader.state.text.match(/: beat/g)?.length).toBe(2)
})

test('a beat never falls into the midst of an event', async () => {
  const clock = steppedClock()
  const peer = await peerWithTask({ clock })
  const reader = openStream(peer, `/api/v1/tasks/${peer.task}/events`)
  await expect.poll(() => reader.events()).toEqual([1])
  peer.runtime.emit(peer.task, said('x'.repeat(2_000_000)))
  const isWhole = () => reader.state.text.length > 2_000_000
  while (!isWhole()) {
    // Not while a write waits for the reader: ten seconds of that would cut it.
    if (clock.waiting(10_000) === 0) clock.advance(15_000)
    await new Promise((done) => setImmediate(done))
  }
  await expect.poll(() => reader.events()).toEqual([1, 2])
})

test('a reader that takes nothing for 10 seconds is cut and resumes without a gap', async () => {
  const clock = steppedClock()
  const peer = await peerWithTask({ clock })
  const stuck = openStream(peer, `/api/v1/tasks/${peer.task}/events`)
  await expect.poll(() => stuck.events()).toEqual([1])
  stuck.socket.pause()
  const total = 400
  for (let n = 2; n <= total; n++) peer.runtime.emit(peer.task, said(`${n} ${'x'.repeat(64 * 1024)}`))
  // The kernel's buffers fill first; then a write waits for the reader and the clock is asked for ten seconds.
  await expect.poll(() => clock.waiting(10_000)).toBe(1)
  expect(peer.runtime.followers()).toBe(1)
  clock.advance(10_000)
  await expect.poll(() => peer.runtime.followers()).toBe(0)
  stuck.socket.resume()
  await expect.poll(() => stuck.state.closed).toBe(true)
  const seen = stuck.events()
  expect(seen).toEqual(Array.from({ length: seen.length }, (_, i) => i + 1))
  expect(seen.length).toBeLessThan(total)
  const again = openStream(peer, `/api/v1/tasks/${peer.task}/events`, [`Last-Event-ID: ${seen.at(-1)}`])
  await expect.poll(() => again.events().at(-1), { timeout: 10_000 }).toBe(total)
  expect([...seen, ...again.events()]).toEqual(Array.from({ length: total }, (_, i) => i + 1))
})

test('a stuck reader holds back nobody and little memory', async () => {
  const peer = await peerWithTask()
  const stuck = openStream(peer, `/api/v1/tasks/${peer.task}/events`)
  await expect.poll(() => stuck.events()).toEqual([1])
  stuck.socket.pause()
  const lively = openStream(peer, `/api/v1/tasks/${peer.task}/events`)
  for (let n = 2; n <= 200; n++) peer.runtime.emit(peer.task, said(`${n} ${'x'.repeat(32 * 1024)}`))
  await expect.poll(() => lively.events().at(-1), { timeout: 10_000 }).toBe(200)
})

test('whoever lost their rights while the stream was being opened is cut at once, not with the next beat', async () => {
  const peer = await peerWithTask()
  const streams = new EventStreams({ runtime: peer.runtime, log: silentLog })
  const request = { task: peer.task, after: 0, untilRest: false, isStillIn: async () => false }
  const server = createServer((_, response) => void streams.open(response, request)).listen(0, '127.0.0.1')
  onTestFinished(() => {
    streams.stop()
    server.close()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await expect(fetch(`http://127.0.0.1:${port}`).then((answer) => answer.text())).rejects.toThrow()
})

test('stopping the server cuts every stream at once', async () => {
  const peer = await peerWithTask()
  const reader = openStream(peer, `/api/v1/tasks/${peer.task}/events?until=rest`)
  await expect.poll(() => reader.events()).toEqual([1])
  await peer.surface.stop()
  await peer.surface.stop()
  await expect.poll(() => reader.state.closed).toBe(true)
  expect(reader.state.cleanly).toBe(false)
  expect(peer.runtime.followers()).toBe(0)
})

/** A clock that a test moves. */
function steppedClock() {
  let nowMs = 0
  const timers = new Set<{ at: number; ms: number; fn: () => void }>()
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    after(ms: number, fn: () => void) {
      const timer = { at: nowMs + ms, ms, fn }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    waiting: (ms: number) => [...timers].filter((timer) => timer.ms === ms).length,
    advance(ms: number) {
      nowMs += ms
      for (const timer of [...timers].filter(({ at }) => at <= nowMs)) {
        timers.delete(timer)
        timer.fn()
      }
    },
  }
}
