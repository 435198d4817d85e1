import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startDaemon } from './daemon.ts'
import { type Benchmark, interleave, median, ms, quantile } from './figure.ts'
import { inPlace } from './place.ts'

const messages = 200
const atOnce = 8
const streams = 1_000
const seconds = 10
const speaker = `const until = Date.now() + ${(seconds + 20) * 1000}; const timer = setInterval(() => { process.stdout.write('at=' + Date.now() + ';\\n'); if (Date.now() > until) clearInterval(timer) }, 100)`

export const benchmark: Benchmark = {
  about: `${messages} messages of A2A to an agent that does nothing, against the SDK's server in memory; and ${streams} open streams`,
  measure: ({ profileDir, say }) =>
    inPlace(async (place) => {
      const agents = {
        noop: { adapter: 'custom', profile: 'unattended-open', command: ['/bin/echo', 'done'] },
        speaker: { adapter: 'custom', profile: 'unattended-open', command: [process.execPath, '--eval', speaker] },
      }
      const daemon = await startDaemon(place, { settings: { agents, limits: { running: 10 } }, profileDir })
      const peer = await startPeer()
      try {
        const { ours, peer: theirs } = await interleave(
          3,
          () => rate(`${daemon.url}/a2a/agents/noop`, daemon.token),
          () => rate(peer.url, ''),
        )
        const ratio = median(ours) / median(theirs)
        const delays = await read(daemon.url, daemon.token)
        say(`${delays.length} updates were read by ${streams} streams`)
        const p99 = quantile(delays, 0.99)
        return [
          {
            name: 'A2A SendMessage, to the end of its task',
            ours: `${Math.round(median(ours))}/s durable`,
            peer: `${Math.round(median(theirs))}/s in memory`,
            ratio,
            target: '≥ 0.3x',
            isMet: ratio >= 0.3,
          },
          { name: `updates to ${streams} A2A streams, p99`, ours: ms(p99), peer: '', target: '≤ 250 ms', isMet: p99 <= 250 },
        ]
      } finally {
        peer.stop()
      }
    }),
}

async function startPeer(): Promise<{ url: string; stop: () => void }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'a2a-peer.ts')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { url, stop: () => void child.kill() }
}

/** How many messages a second are answered with a task that has ended. */
async function rate(url: string, token: string): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  let left = messages
  const began = performance.now()
  const sender = async () => {
    while (left-- > 0) await send(url, token, agent)
  }
  await Promise.all(Array.from({ length: atOnce }, sender))
  agent.destroy()
  return messages / ((performance.now() - began) / 1_000)
}

function send(url: string, token: string, agent: Agent): Promise<void> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'go' }] }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } })
  const headers = {
    'content-type': 'application/json',
    'a2a-version': '1.0',
    ...(token ? { authorization: `Bearer ${token}` } : {}),
  }
  return new Promise((done, fail) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () =>
        text.includes('TASK_STATE_COMPLETED')
          ? done()
          : fail(new Error(`A message came to something else: ${text.slice(0, 300)}`)),
      )
    })
    sent.on('error', fail).end(body)
  })
}

/** Subscribes to tasks that say ten things a second; answers how long each took from printed to read. */
async function read(url: string, token: string): Promise<number[]> {
  const { hostname, port, host } = new URL(url)
  const tasks: string[] = []
  for (let n = 0; n < 10; n++) tasks.push(await begin(url, token))
  const delays: number[] = []
  let heard = 0
  let counting = false
  const sockets: Socket[] = []
  for (let n = 0; n < streams; n++) {
    const socket = connect(Number(port), hostname)
    sockets.push(socket)
    socket.write(
      `POST /a2a/tasks/${tasks[n % tasks.length]}:subscribe HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`.replaceAll(
        '\\\\r\\\\n',
        '\r\n',
      ),
    )
    let first = true
    socket.setEncoding('latin1').on('data', (text: string) => {
      const now = Date.now()
      if (first) heard++
      first = false
      if (counting) for (const [, at] of text.matchAll(/at=(\d+);/g)) delays.push(now - Number(at))
    })
  }
  for (let tries = 0; heard < streams && tries < 600; tries++) await new Promise((again) => setTimeout(again, 50))
  if (heard < streams) throw new Error(`Only ${heard} of ${streams} streams were opened.`)
  counting = true
  await new Promise((again) => setTimeout(again, seconds * 1_000))
  for (const socket of sockets) socket.destroy()
  return delays
}

async function begin(url: string, token: string): Promise<string> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'go' }] }
  const response = await fetch(`${url}/a2a/agents/speaker/message:send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ message, configuration: { returnImmediately: true } }),
  })
  return ((await response.json()) as { task: { id: string } }).task.id
}
